import type { AuthenticationOptions } from '../access/authentication/authentication-options.ts'
import { signInOptionsSchema } from '../access/sign-in/sign-in-options.ts'
import type { Unstructured } from '../kubernetes/object.ts'
import type { SimulatedFleet } from '../simulator/simulated-fleet.ts'
import type { Storage } from '../simulator/storage/storage.ts'
import { demoClient, type DemoPerson } from './demo-provider.ts'

const rbac = 'rbac.authorization.k8s.io'
/** The team of the developer, where the scenario has it. */
const usualTeam = 'payments'

/**
 * The people of the demo: one who may do anything, a developer who may change what their team has and see nothing of
 * others, and one who may look at everything but Secrets. `team` is the developer's.
 */
export function demoPeople(team: string | undefined): readonly DemoPerson[] {
  return [
    {
      email: 'sara@fjordholt.example',
      name: 'Sara, site reliability',
      does: 'May do anything, everywhere.',
      groups: ['sre'],
    },
    {
      email: 'deniz@fjordholt.example',
      name: `Deniz, developer${team === undefined ? '' : ` of ${team}`}`,
      does: `Sees and changes ${team === undefined ? 'the namespace default' : `the namespaces of the team ${team}`}, and nothing of other teams.`,
      groups: ['team:developers'],
    },
    {
      email: 'vera@fjordholt.example',
      name: 'Vera, support',
      does: 'Looks at everything but Secrets, and changes nothing.',
      groups: ['viewers'],
    },
  ]
}

/** The team whose developer can be signed in as: that of the scenario's namespaces. */
export function demoTeam({ clusters }: SimulatedFleet): string | undefined {
  const teams = clusters.flatMap(({ simulator }) =>
    namespacesOf(simulator.storage).flatMap(({ metadata }) => metadata.labels?.['team'] ?? []),
  )
  return teams.includes(usualTeam) ? usualTeam : teams.toSorted()[0]
}

/** Gives the people their rights: roles and bindings of RBAC in each cluster. */
export function bindDemoPeople({ clusters }: SimulatedFleet, team: string | undefined): void {
  for (const { simulator } of clusters) {
    const { storage } = simulator
    const reading = { verbs: ['get', 'list', 'watch'] }
    create(storage, 'clusterroles', 'ClusterRole', {
      metadata: { name: 'company:shared-reader' },
      rules: [
        { ...reading, apiGroups: [''], resources: ['nodes', 'namespaces', 'persistentvolumes'] },
        { ...reading, apiGroups: ['storage.k8s.io'], resources: ['storageclasses'] },
        { ...reading, apiGroups: ['scheduling.k8s.io'], resources: ['priorityclasses'] },
        {
          ...reading,
          apiGroups: ['apiextensions.k8s.io'],
          resources: ['customresourcedefinitions'],
        },
      ],
    })
    bind(storage, 'cluster-admin', 'sre')
    bind(storage, 'view', 'viewers')
    bind(storage, 'company:shared-reader', 'viewers', 'team:developers')
    for (const { metadata } of namespacesOf(storage)) {
      const isTheirs =
        team === undefined ? metadata.name === 'default' : metadata.labels?.['team'] === team
      if (isTheirs) bindIn(storage, metadata.name, 'edit', 'team:developers')
    }
  }
}

/** How the demo's gateway signs its visitors in. Those who do not sign in see everything. */
export function demoAuthentication(
  given: AuthenticationOptions,
  issuer: string,
): AuthenticationOptions {
  return {
    ...given,
    mode: 'oidc-login',
    tokenClusters: ['*'],
    oidc: {
      issuer,
      algorithms: ['ES256'],
      usernameClaim: 'email',
      groupsClaim: 'groups',
      groupsPrefix: '',
      extraClaims: {},
      requiredClaims: {},
    },
    login: signInOptionsSchema.parse({ clientId: demoClient, required: false }),
  }
}

function namespacesOf(storage: Storage): readonly Unstructured[] {
  return [...storage.list({ group: '', version: 'v1', resource: 'namespaces' })]
}

function bind(storage: Storage, role: string, ...groups: readonly string[]): void {
  create(storage, 'clusterrolebindings', 'ClusterRoleBinding', {
    metadata: { name: `demo:${role}` },
    ...bindingOf(role, groups),
  })
}

function bindIn(storage: Storage, namespace: string, role: string, group: string): void {
  create(storage, 'rolebindings', 'RoleBinding', {
    metadata: { name: `demo:${role}`, namespace },
    ...bindingOf(role, [group]),
  })
}

function bindingOf(role: string, groups: readonly string[]): object {
  return {
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: groups.map((name) => ({ apiGroup: rbac, kind: 'Group', name })),
  }
}

function create(storage: Storage, resource: string, kind: string, object: object): void {
  storage.create({ group: rbac, version: 'v1', resource }, {
    apiVersion: `${rbac}/v1`,
    kind,
    ...object,
  } as Unstructured)
}
