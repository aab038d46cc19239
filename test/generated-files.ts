import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Before all tests: writes the types of Kubernetes' objects, and builds the portal's page unless it is built of the present sources. */
export async function setup(): Promise<void> {
  const run = promisify(execFile)
  await run(process.execPath, ['tools/wire-types/generate.ts', '--types'])
  await run(process.execPath, ['packages/portal/build.ts', '--if-needed'])
}
