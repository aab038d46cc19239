import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ContractServer } from '../contract/contract-server.ts'

/** A kubeconfig file; gone when disposed of. */
export interface Kubeconfig extends AsyncDisposable {
  readonly path: string
}

/** Writes a kubeconfig for the server, as the user that its headers name. */
export async function writeKubeconfig({
  url,
  ca,
  headers,
}: Pick<ContractServer, 'url' | 'headers'> & Partial<ContractServer>): Promise<Kubeconfig> {
  const dir = await mkdtemp(join(tmpdir(), 'informerql-kubeconfig-'))
  const path = join(dir, 'config')
  const certificates = ca === undefined ? undefined : Buffer.from(ca).toString('base64')
  const token = headers['authorization']?.replace('Bearer ', '')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'test', cluster: { server: url, 'certificate-authority-data': certificates } },
    ],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  }
  await writeFile(path, JSON.stringify(config), { mode: 0o600 })
  return {
    path,
    [Symbol.asyncDispose]: async () => rm(dir, { recursive: true, force: true }),
  }
}
