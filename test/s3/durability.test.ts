import { describeDurability } from '../support/store/durability.js';
import { openRealBucket } from '../support/store/real-s3.js';

describeDurability('a real S3 server', () => openRealBucket());
