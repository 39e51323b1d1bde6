export * from '../../../domain/kinds.js';
