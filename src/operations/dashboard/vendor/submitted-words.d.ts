export * from '../../../domain/submitted-words.js';
