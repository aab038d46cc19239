import { expect, it } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { serveGateway } from '../support/gateway.ts'
import { populateShop, serveShop } from '../writes/shop.ts'
import { describeAccess } from './access-cluster.ts'

const ask = `query ($apiVersion: String!, $kind: String!, $paths: [String!]!, $namespace: String) {
  kindFields(apiVersion: $apiVersion, kind: $kind, paths: $paths, namespace: $namespace) {
    path name type required values description
  }
}`

describeAccess('the fields of a kind', (cluster) => {
  it('are those of the API server, for who may create or list the kind, and for nobody else', async () => {
    await populateShop(cluster())
    await using served = await serveShop(cluster())
    const fields = async (token: string, variables: Fields): Promise<Fields> => {
      const { data, errors = [] } = await served.as(token).query(ask, variables)
      const [error] = errors as Fields[]
      return error === undefined ? data.kindFields : error.extensions
    }
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop' }
    const container = 'spec.template.spec.containers[*]'
    const paths = ['', 'spec', container, 'metadata', 'spec.nothing', `${container}.image.tag`]
    const seen: Fields[] = await fields('ann-token', { ...deployment, paths })
    const field = (path: string): Fields => seen.find((one) => one.path === path)
    expect(field('spec')).toMatchObject({ name: 'spec', type: 'Object' })
    expect(field('spec.replicas')).toMatchObject({ type: 'integer', required: false, values: null })
    expect(field('spec.selector')).toMatchObject({ type: 'Object', required: true })
    expect(field(`${container}.name`)).toMatchObject({ type: 'string', required: true })
    expect(field(`${container}.imagePullPolicy`).values.toSorted()).toEqual([
      'Always',
      'IfNotPresent',
      'Never',
    ])
    expect(field(`${container}.env`).type).toBe('[]Object')
    expect(field('metadata.labels').type).toBe('map[string]string')
    expect(seen.filter(({ path }) => /nothing|tag/.test(path))).toEqual([])

    // Ben lists what is in the namespace, and nothing elsewhere; Cleo nothing at all.
    expect(await fields('ben-token', { ...deployment, paths: ['spec'] })).not.toEqual([])
    const elsewhere = { ...deployment, namespace: 'default', paths: ['spec'] }
    for (const [token, asked] of [
      ['ben-token', elsewhere],
      ['ann-token', { ...elsewhere, namespace: null }],
      ['cleo-token', { ...deployment, paths: ['spec'] }],
    ] as const) {
      expect(await fields(token, asked), token).toMatchObject({ code: 'FORBIDDEN' })
    }

    expect(
      await fields('ann-token', { ...deployment, kind: 'Nonsense', paths: [''] }),
    ).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'kind' })
    const many = Array.from({ length: 101 }, (_, at) => `spec.a${at}`)
    expect(await fields('ann-token', { ...deployment, paths: many })).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'paths',
    })
  })

  it('are found as deep as a place is, also where a schema contains itself', async () => {
    await using served = await serveGateway({ clusters: [cluster().selection()] })
    const deep = `spec.versions[*].schema.openAPIV3Schema${'.properties[*]'.repeat(20)}`
    const { kindFields } = await served.data(
      `{ kindFields(apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", paths: ["${deep}"]) { path type } }`,
    )
    expect(kindFields).toContainEqual({ path: `${deep}.format`, type: 'string' })
  })

  it('cost work for each step to a place, since a schema that contains itself has no end', async () => {
    await using served = await serveGateway({ clusters: [cluster().selection()] })
    const deep = `spec.versions[*].schema.openAPIV3Schema${'.not'.repeat(250)}`
    const paths = Array.from({ length: 90 }, (_, at) => `${deep}.a${at}`)
    const field = `kindFields(apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", paths: $paths) { path }`
    const aliases = Array.from({ length: 50 }, (_, at) => `a${at}: ${field}`)
    const { errors } = await served.query(`query ($paths: [String!]!) { ${aliases.join(' ')} }`, {
      paths,
    })
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'QUERY_TOO_COSTLY' })
  })
})
