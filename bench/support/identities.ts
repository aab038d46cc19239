/** The gateway's own token, which may do anything. */
export const gatewayToken = 'gateway-token'

/** Who asks: one who reads everywhere, and one who reads in some namespaces only. */
export const viewerTokens = { everywhere: 'everywhere-token', namespaces: 'namespaces-token' }
