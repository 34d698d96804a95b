import { basicCases } from './basic-cases.ts';

basicCases('query');
