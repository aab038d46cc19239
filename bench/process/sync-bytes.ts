/**
 * The floor of any sync: the same pages, read and thrown away. Arguments: the API server's URL, and how many pods it
 * has.
 */
import { ListClient, readPages } from '../support/list-client.ts'
import { reportSync } from '../support/sync-report.ts'

const [url = '', pods = ''] = process.argv.slice(2)
await reportSync(async () => {
  let bytes = 0
  await readPages(new ListClient(url, 1), (page) => {
    bytes += page.length
    // The token stands in the list's metadata, before its items or after them.
    const head = page.toString('latin1', 0, 1000) + page.toString('latin1', page.length - 1000)
    return /"continue":"([^"]*)"/.exec(head)?.[1]
  })
  return { pods: Number(pods), cache: bytes }
})
