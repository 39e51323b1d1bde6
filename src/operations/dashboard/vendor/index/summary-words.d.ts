export * from '../../../../index/summary-words.js';
