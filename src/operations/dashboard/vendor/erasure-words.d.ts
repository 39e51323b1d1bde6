export * from '../../../domain/erasure-words.js';
