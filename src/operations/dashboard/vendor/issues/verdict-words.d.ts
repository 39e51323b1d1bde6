export * from '../../../issues/verdict-words.js';
