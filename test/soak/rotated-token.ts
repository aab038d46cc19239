import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ControlPlane } from '../support/control-plane.ts'
import { created } from './soak-writer.ts'

const namespace = 'soak-users'
const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`

/** A kubeconfig with a token file that is replaced from time to time, as kubelets do. */
export interface RotatedToken extends AsyncDisposable {
  readonly kubeconfigPath: string
  /** Who the token in the file is for the server. */
  readonly user: () => string
  /** Puts the token of another service account into the file, and has the server refuse the one before. */
  readonly rotate: () => Promise<void>
}

/** Makes a service account that may do everything, and a kubeconfig whose `tokenFile` holds its token. */
export async function createRotatedToken(plane: ControlPlane): Promise<RotatedToken> {
  const dir = await mkdtemp(join(tmpdir(), 'informerql-soak-'))
  const tokenFile = join(dir, 'token')
  const kubeconfigPath = join(dir, 'config')
  let account = ''
  let accountsMade = 0

  const issue = async (): Promise<string> => {
    account = `user-${accountsMade++}`
    await created(plane, accounts, { metadata: { name: account } })
    const { status } = (await created(plane, `${accounts}/${account}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 86_400 },
    })) as { readonly status: { readonly token: string } }
    // In one step, as kubelets do: nobody ever reads half a token.
    await writeFile(`${tokenFile}.new`, `${status.token}\n`, { mode: 0o600 })
    await rename(`${tokenFile}.new`, tokenFile)
    return status.token
  }

  await created(plane, '/api/v1/namespaces', { metadata: { name: namespace } })
  await created(plane, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [
      {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'Group',
        name: `system:serviceaccounts:${namespace}`,
      },
    ],
  })
  let token = await issue()
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'soak',
        cluster: {
          server: plane.url,
          'certificate-authority-data': Buffer.from(plane.ca).toString('base64'),
        },
      },
    ],
    users: [{ name: 'soak', user: { tokenFile } }],
    contexts: [{ name: 'soak', context: { cluster: 'soak', user: 'soak' } }],
    'current-context': 'soak',
  }
  await writeFile(kubeconfigPath, JSON.stringify(kubeconfig), { mode: 0o600 })

  return {
    kubeconfigPath,
    user: () => `system:serviceaccount:${namespace}:${account}`,
    rotate: async () => {
      const [oldAccount, oldToken] = [account, token]
      token = await issue()
      await plane.request(`${accounts}/${oldAccount}`, { method: 'DELETE' })
      await untilRefused(plane, oldToken)
    },
    [Symbol.asyncDispose]: async () => rm(dir, { recursive: true, force: true }),
  }
}

/** The server remembers for ten seconds whom it has let in. */
async function untilRefused(plane: ControlPlane, token: string): Promise<void> {
  const end = performance.now() + 60_000
  while ((await plane.request('/api', { token })).status !== 401) {
    if (performance.now() > end) throw new Error('the old token is accepted after 60 s')
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}
