import { managedFieldsOf, type ReplicaSet, specOf, statusOf } from './pod-body.ts'
import { generatedLetters, letters, pick, type Random, randomFrom, time, uid } from './random.ts'

/**
 * Running pods as the items of a LIST, in the order of namespace and name: about 10 KB each, 6 KB of it without
 * managedFields; each ReplicaSet has `siblings` of them.
 */
export function* podTexts(options: {
  readonly count: number
  readonly siblings: number
  readonly seed: number
}): Generator<Buffer> {
  const random = randomFrom(options.seed)
  for (let index = 0; index < options.count; index += options.siblings) {
    const set = replicaSetOf(index / options.siblings, random)
    const last = Math.min(options.siblings, options.count - index)
    for (let sibling = 0; sibling < last; sibling++) {
      yield Buffer.from(JSON.stringify(podOf(set, random)))
    }
  }
}

function replicaSetOf(index: number, random: Random): ReplicaSet {
  const words = ['checkout', 'cart', 'search', 'billing', 'stock', 'mail', 'auth', 'price', 'image']
  const parts = ['api', 'worker', 'web', 'cache', 'gateway', 'cron']
  const count = 4 + Math.floor(random() * 8)
  return {
    namespace: `team-${String(Math.floor(index / 20)).padStart(4, '0')}`,
    app: `${pick(words, random)}-${pick(parts, random)}-${index}`,
    hash: letters(generatedLetters, 10, random),
    uid: uid(random),
    team: pick(words, random),
    env: Array.from({ length: count }, (_, at) => ({
      name: `${pick(words, random).toUpperCase()}_SETTING_${at}`,
      value: `https://${pick(words, random)}.internal.example.com/v${at}`,
    })),
    sidecar: random() < 0.3,
    version: `${Math.floor(random() * 9)}.${Math.floor(random() * 30)}.${Math.floor(random() * 9)}`,
  }
}

function podOf(set: ReplicaSet, random: Random): object {
  const name = `${set.app}-${set.hash}-${letters(generatedLetters, 5, random)}`
  const [created, ready] = [time(random), time(random)]
  const token = `kube-api-access-${letters(generatedLetters, 5, random)}`
  const ip = `10.${Math.floor(random() * 255)}.${Math.floor(random() * 255)}.${Math.floor(random() * 255)}`
  const host = `10.0.${Math.floor(random() * 8)}.${Math.floor(random() * 255)}`
  const names = [set.app, ...(set.sidecar ? ['proxy'] : [])]
  return {
    metadata: {
      name,
      generateName: `${set.app}-${set.hash}-`,
      namespace: set.namespace,
      uid: uid(random),
      resourceVersion: String(100_000 + Math.floor(random() * 9e7)),
      generation: 1,
      creationTimestamp: created,
      labels: {
        'app.kubernetes.io/component': 'backend',
        'app.kubernetes.io/instance': set.app,
        'app.kubernetes.io/managed-by': 'Helm',
        'app.kubernetes.io/name': set.app,
        'app.kubernetes.io/version': set.version,
        'example.com/team': set.team,
        'pod-template-hash': set.hash,
      },
      annotations: {
        'checksum/config': set.uid.replaceAll('-', '').repeat(2),
        'prometheus.io/port': '9090',
        'prometheus.io/scrape': 'true',
      },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `${set.app}-${set.hash}`,
          uid: set.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: managedFieldsOf(set, names, ip, created, ready),
    },
    spec: specOf(set, names, token, random),
    status: statusOf(set, names, { created, ready, ip, host, token }, random),
  }
}
