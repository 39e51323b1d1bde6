export * from '../../../health/describe-issue.js';
