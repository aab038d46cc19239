/** The gateway's own token, which may do anything. */
export const gatewayToken = 'gateway-token'

/** The users: one may read everything, one only some namespaces, and one may read everything and attacks. */
export const viewerTokens = {
  everywhere: 'everywhere-token',
  namespaces: 'namespaces-token',
  mallory: 'mallory-token',
}

/** The token of one of many users with the same access, all members of {@link readersGroup}. */
export function viewerToken(number: number): string {
  return `viewer-${number}`
}

/** Its members may read everything. */
export const readersGroup = 'readers'

/** The kubeconfig of the gateway for a server, as JSON. */
export function kubeconfigOf(server: string): string {
  return JSON.stringify({
    clusters: [{ name: 'a', cluster: { server } }],
    users: [{ name: 'a', user: { token: gatewayToken } }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  })
}
