import { describeDurability } from '../support/durability.js';
import { openRealBucket } from '../support/real-s3.js';

describeDurability('a real S3 server', () => openRealBucket());
