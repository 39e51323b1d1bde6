import { openRealBucket } from '../support/real-s3.js';
import { describeS3Faults } from '../support/s3-faults.js';

describeS3Faults('a real S3 server', () => openRealBucket());
