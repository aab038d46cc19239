import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Before all tests: builds the page of the portal unless it is built of the present sources. */
export async function setup(): Promise<void> {
  const args = ['packages/portal/build.ts', '--if-needed']
  await promisify(execFile)(process.execPath, args)
}
