export * from '../../../domain/failure-causes.js';
