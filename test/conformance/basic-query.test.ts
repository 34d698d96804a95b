// store: SQLite, PostgreSQL with --all
import { basicCases } from './basic-cases.ts';

basicCases('query');
