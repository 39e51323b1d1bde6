import { openRealBucket } from '../support/store/real-s3.js';
import { describeS3Faults } from '../support/store/s3-faults.js';

describeS3Faults('a real S3 server', () => openRealBucket());
