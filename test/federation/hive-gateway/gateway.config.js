export const gatewayConfig = {
  supergraph: 'supergraph.graphql',
  propagateHeaders: {
    fromClientToSubgraphs: ({ request }) => {
      const authorization = request.headers.get('authorization')
      return authorization === null ? {} : { authorization }
    },
  },
  transportEntries: {
    clusters: {
      options: {
        subscriptions: {
          kind: 'ws',
          location: '/graphql',
          options: { connectionParams: { authorization: '{context.headers.authorization}' } },
        },
      },
    },
  },
}
