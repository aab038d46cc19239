/**
 * The floor of any sync: the same pages, read and thrown away. Arguments: the API server's URL, and how many pods it
 * has.
 */
import { ListClient, readPages } from '../support/list-client.ts'
import { reportSync } from '../support/sync-report.ts'

const [url = '', pods = ''] = process.argv.slice(2)
await reportSync(async () => {
  const client = new ListClient(url, 1)
  // The token stands in the list's metadata, before its items or after them.
  await readPages(async (path) => /"continue":"([^"]*)"/.exec(await client.ends(path))?.[1])
  return { pods: Number(pods), cache: undefined }
})
