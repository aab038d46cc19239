import { describe, expect, it } from 'vitest'
import { placeOfCursor } from '../../packages/portal/src/create/completion.ts'
import { KindFields } from '../../packages/portal/src/create/kind-fields.ts'
import { ManifestReader } from '../../packages/portal/src/create/manifest-text.ts'
import { checkedBySchema } from '../../packages/portal/src/create/schema-check.ts'
import { templates } from '../../packages/portal/src/create/templates.ts'
import type { Gateway } from '../../packages/portal/src/gateway/gateway.ts'
import { describeAccess, rbac } from '../access/access-cluster.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type GatewayCaller, serveGateway } from '../support/gateway.ts'
import { populateShop, serveShop } from '../writes/shop.ts'

const map = (name: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  key: one\n`
const never = new AbortController().signal

const read = async (text: string) => {
  const reading = await new ManifestReader().read(text, never)
  expect(reading).toBeDefined()
  return reading ?? { documents: [], problems: [] }
}

describe('The documents of a text', () => {
  it('are found between separators, comments and nothing, each with its lines', async () => {
    const text = `# first\n---\n${map('a')}---\n---\n# nothing\n--- # end\n${map('b')}`
    const { documents, problems } = await read(text)
    expect(problems).toEqual([])
    expect(
      documents.map(({ name, line, number, lineOf }) => [name, number, line, lineOf('data.key')]),
    ).toEqual([
      ['a', 1, 3, 8],
      ['b', 2, 13, 18],
    ])
  })

  it('end at a separator in a block of text, as they do for kubectl', async () => {
    const { documents, problems } = await read(`${map('a')}  text: |\n    one\n---\n${map('b')}`)
    expect([documents.length, problems]).toEqual([2, []])
  })

  it('may be JSON, and the items of a List', async () => {
    const item = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
    const list = { apiVersion: 'v1', kind: 'List', items: [item('a'), item('b')] }
    const { documents } = await read(JSON.stringify(list, null, 2))
    expect(documents.map(({ name, manifest }) => [name, manifest])).toEqual([
      ['a', item('a')],
      ['b', item('b')],
    ])
    expect(documents[1]?.line).toBeGreaterThan(documents[0]?.line ?? 0)
  })

  it('say the line of what is wrong, and leave the others alone', async () => {
    const { documents, problems } = await read(
      `${map('a')}---\nkind: ConfigMap\n---\nkey: [1\n---\n- 1\n---\n${map('b')}`,
    )
    expect(documents.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(problems.map(({ line }) => line)).toEqual([8, expect.any(Number), 12])
    expect(problems[0]?.message).toBe('The document has no apiVersion, no metadata.name.')
  })

  it('are sent as text where a number has more digits than a double', async () => {
    const text = map('a').replace('one', '12345678901234567890')
    expect((await read(text)).documents[0]?.manifest).toBe(text)
    expect((await read(map('a'))).documents[0]?.manifest).toMatchObject({ kind: 'ConfigMap' })
  })

  it('are too much beyond the bounds', async () => {
    expect((await read(`a: ${'b'.repeat(1 << 20)}`)).problems).toMatchObject([{ line: 1 }])
    expect((await read('a'.repeat(5_000_001))).problems).toMatchObject([{ line: undefined }])
  })
})

describe('The place of the cursor', () => {
  const lines = (templates[0]?.text ?? '').split('\n')
  const after = (text: string): number => lines.findIndex((line) => line.includes(text)) + 1

  it.each([
    ['kind: Deployment', '', { path: '' }],
    ['name: web', '  l', { path: 'metadata' }],
    ['replicas: 2', '  str', { path: 'spec' }],
    ['image:', '          im', { path: 'spec.template.spec.containers[*]' }],
    ['image:', '          imagePullPolicy: A', { field: 'imagePullPolicy' }],
    ['ports:', '            - n', { path: 'spec.template.spec.containers[*].ports[*]' }],
    ['containerPort', '              p', { path: 'spec.template.spec.containers[*].ports[*]' }],
    [
      'requests:',
      '              c',
      { path: 'spec.template.spec.containers[*].resources.requests' },
    ],
  ])('after %s, %s is %o', (line, typed, expected) => {
    const at = after(line)
    expect(placeOfCursor([...lines.slice(0, at), typed], lines.slice(at))).toMatchObject({
      kind: 'Deployment',
      ...expected,
    })
  })

  it('knows the names that the map has, and the items of lists without more indentation', () => {
    const text = 'kind: Pod\nspec:\n  containers:\n  - name: a\n    image: b\n  - name: c\n'.split(
      '\n',
    )
    const place = placeOfCursor([...text.slice(0, 6), '    i'])
    expect(place).toMatchObject({ path: 'spec.containers[*]' })
    expect([...(place?.taken ?? [])]).toEqual(['name'])
    expect(placeOfCursor(['kind: Pod', '---', 'kind: Job', 'spec:', '  '])?.kind).toBe('Job')
  })
})

/** The gateway as the page asks it. */
const asked = (served: Pick<GatewayCaller, 'query'>): Gateway =>
  ({
    ask: async (document: { readonly toString: () => string }, variables: Fields) => {
      const { data, errors = [] } = await served.query(document.toString(), variables)
      return { data, errors }
    },
  }) as unknown as Gateway

describeAccess('a text of the portal', (cluster) => {
  it('that is a template passes its own trial, and its own checks', async () => {
    const { must } = cluster()
    await populateShop(cluster())
    const apiGroup = 'rbac.authorization.k8s.io'
    await must(`${rbac}/clusterrolebindings`, {
      method: 'POST',
      body: {
        metadata: { name: 'ann' },
        roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ apiGroup, kind: 'User', name: 'ann' }],
      },
    })
    await using served = await serveShop(cluster())
    const ann = served.as('ann-token')
    const fields = new KindFields(asked(ann))
    expect(templates.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining([
        'StatefulSet',
        'DaemonSet',
        'HorizontalPodAutoscaler',
        'NetworkPolicy',
        'PodDisruptionBudget',
      ]),
    )
    for (const { text, kind } of templates) {
      const { documents, problems } = await read(text)
      expect(problems, kind).toEqual([])
      for (const document of documents) {
        const { apiVersion, kind: of } = document
        const at = { apiVersion, kind: of, cluster: undefined, namespace: 'default' }
        expect(await checkedBySchema(document, at, fields), kind).toEqual([])
        const { data, errors } = await ann.query(
          'mutation ($manifest: JSON!) { apply(manifest: $manifest, namespace: "default", dryRun: true) { dryRun warnings } }',
          { manifest: document.manifest },
        )
        expect(errors, kind).toBeUndefined()
        expect(data?.apply, kind).toEqual([{ dryRun: true, warnings: [] }])
      }
    }
  })

  it('is checked by the schema of its kind: names, types, values and what is required, with lines', async () => {
    await using served = await serveGateway({ clusters: [cluster().selection()] })
    const fields = new KindFields(asked(served))
    const text = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: { app: 1 }
spec:
  replicas: two
  template:
    spec:
      containers:
        - image: web
          imagePullPolicy: Sometimes
          env:
            - name: A
              value: 8080
          ports: { containerPort: 1 }
          nonsense: true
          resources: { limits: { cpu: 1, memory: 1Gi } }
      volumes: null
`
    const { documents } = await read(text)
    const [document] = documents
    if (document === undefined) throw new Error('the text has a document')
    const at = { apiVersion: 'apps/v1', kind: 'Deployment', cluster: undefined, namespace: 'x' }
    const found = await checkedBySchema(document, at, fields)
    const container = 'spec.template.spec.containers[0]'
    expect(found.map(({ message, line }) => `${line} ${message}`).toSorted()).toEqual(
      [
        '5 metadata.labels.app: it takes a text: numbers and true or false need quotes',
        '7 spec.selector: it is required',
        '7 spec.replicas: it takes a whole number',
        `11 ${container}.name: it is required`,
        `12 ${container}.imagePullPolicy: it is one of Always, IfNotPresent, Never`,
        `15 ${container}.env[0].value: it takes a text: numbers and true or false need quotes`,
        `16 ${container}.ports: it takes a list`,
        `17 ${container}.nonsense: there is no such field`,
      ].toSorted(),
    )
  })
})
