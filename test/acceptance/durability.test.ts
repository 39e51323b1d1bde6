import { describeDurability } from '../support/store/durability.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describeDurability('the file store', async () => {
  const folder = await temporaryFolder();
  return { options: { url: `file:${folder.path}/store`, partSize: 256 * 1024 }, dispose: folder.remove };
});
