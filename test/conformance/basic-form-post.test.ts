import { basicCases } from './basic-cases.ts';

basicCases('form_post');
