/*
 * The operations that a first visitor gets: one to copy in a terminal, and the tabs of GraphiQL. They name no object, so that
 * they fit any cluster.
 */

/** The first operation that a reader of the terminal can copy. */
export const firstQuery = `{
  pods(first: 2, where: { phase: { eq: "Running" } }) {
    totalCount
    nodes {
      metadata { name namespace }
      node { metadata { name } }
    }
  }
}`

/** The tabs of GraphiQL at its first visit. They name no object, so that they fit any cluster. */
export const exampleOperations: readonly string[] = [
  `# Everything here is answered from memory, from caches that follow the API server.
# Ctrl-Enter runs the operation; Ctrl-Space says what could come next. The other tabs are further examples.

query RunningPods ${firstQuery}
`,
  `# What is broken, the worst first, and why. Every kind has health.
query DegradedPods {
  pods(where: { health: { in: [DEGRADED, UNKNOWN] } }, orderBy: [{ health: ASC }]) {
    totalCount
    facets(by: "namespace") { values { value count } }
    nodes {
      metadata { namespace name }
      health { status reason message }
      owners { kind name }
      node { metadata { name } }
    }
  }
}
`,
  `# Who uses a ConfigMap, and at which places. Nothing may need those without users.
query UsersOfConfigMaps {
  configMaps(first: 20) {
    nodes {
      metadata { namespace name }
      usedBy(first: 5) {
        totalCount
        nodes { object { kind name } paths }
      }
    }
  }
}
`,
  `# A live page: the ten pods that restart most, and every change of this list.
subscription MostRestarts {
  podsPage(first: 10, orderBy: [{ restarts: DESC }]) {
    totalCount
    changes {
      step
      index
      from
      object { metadata { namespace name } health { status reason } }
    }
  }
}
`,
  `# Live: what is there, then every change.
subscription LivePods {
  pods(where: { phase: { eq: "Running" } }) {
    synced
    changes { type objectId object { metadata { name } status { phase } } }
  }
}
`,
  `# The clusters, and what the gateway keeps of each.
query Clusters {
  gatewayClusters {
    name
    state
    version
    resources { type state objects lagMs }
  }
}
`,
]
