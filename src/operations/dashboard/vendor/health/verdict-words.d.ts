export * from '../../../health/verdict-words.js';
