import {
  type GraphQLSchema,
  type GraphQLInterfaceType,
  getIntrospectionQuery,
  buildClientSchema,
  graphqlSync,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLObjectType,
  type IntrospectionQuery,
  validateSchema,
} from 'graphql'
import { describe, expect, it } from 'vitest'
import { builtIns, schemaOf } from './served-schema.ts'

const { schema, problems } = await schemaOf(builtIns)

const typeOf = (name: string, from: GraphQLSchema = schema): GraphQLObjectType => {
  const type = from.getType(name)
  if (!isObjectType(type)) throw new Error(`${name} is not an object type`)
  return type
}
const fieldsOf = (name: string, from?: GraphQLSchema): Record<string, string> =>
  Object.fromEntries(
    Object.entries(typeOf(name, from).getFields()).map(([field, { type }]) => [
      field,
      String(type),
    ]),
  )

const inputTypesOf = (name: string): Record<string, string> => {
  const type = schema.getType(name)
  if (!isInputObjectType(type)) throw new Error(`${name} is not an input type`)
  const fields = Object.values(type.getFields())
  return Object.fromEntries(fields.map((field) => [field.name, String(field.type)]))
}

const inputFieldsOf = (name: string): string[] => Object.keys(inputTypesOf(name))

const argsOf = (type: string, name: string): string[] => {
  const field = typeOf(type).getFields()[name]
  return field?.args.map((arg) => `${arg.name}: ${String(arg.type)}`) ?? []
}

describe('the schema of Kubernetes 1.36', () => {
  it('is valid, and so is what clients build from its introspection', () => {
    expect(problems).toEqual([])
    expect(validateSchema(schema)).toEqual([])
    const { data, errors } = graphqlSync({ schema, source: getIntrospectionQuery() })
    expect(errors).toBeUndefined()
    const client = buildClientSchema(data as unknown as IntrospectionQuery)
    expect(validateSchema(client)).toEqual([])
  })

  it('gives each value the type that its schema says', () => {
    expect(fieldsOf('Container')).toMatchObject({
      name: 'String',
      command: '[String]',
      ports: '[ContainerPort]',
      livenessProbe: 'Probe',
      imagePullPolicy: 'String',
      stdin: 'Boolean',
    })
    expect(fieldsOf('ContainerPort')).toMatchObject({ containerPort: 'Int' })
    expect(fieldsOf('ResourceRequirements')).toMatchObject({ limits: 'QuantityMap' })
    expect(fieldsOf('HTTPGetAction')).toMatchObject({ port: 'IntOrString' })
    expect(fieldsOf('EmptyDirVolumeSource')).toMatchObject({ sizeLimit: 'Quantity' })
    expect(fieldsOf('LeaseSpec')).toMatchObject({ renewTime: 'DateTime' })
    expect(fieldsOf('DeploymentStatus')).toMatchObject({ observedGeneration: 'Int64' })
    expect(fieldsOf('ConfigMap')).toMatchObject({ data: 'StringMap', binaryData: 'StringMap' })
    expect(fieldsOf('ControllerRevision')).toMatchObject({ data: 'JSON' })
    expect(fieldsOf('CertificateSigningRequestSpec')).toMatchObject({ extra: '[StringListEntry!]' })
    expect(fieldsOf('StringListEntry')).toEqual({ key: 'String!', value: '[String]' })
    expect(fieldsOf('CounterSet')).toMatchObject({ counters: '[CounterEntry!]' })
    expect(fieldsOf('CounterEntry')).toEqual({ key: 'String!', value: 'Counter' })
    expect(fieldsOf('CustomResourceValidation')).toEqual({ openAPIV3Schema: 'JSON' })
  })

  it('tells the metadata of an object from that of a template, and a kind from its template', () => {
    expect(fieldsOf('Pod')).toMatchObject({ metadata: 'ObjectMeta!', id: 'ID!', kind: 'String!' })
    const stored = { name: 'String!', uid: 'String!', creationTimestamp: 'DateTime!' }
    expect(fieldsOf('ObjectMeta')).toMatchObject({ ...stored, label: 'String' })
    expect(fieldsOf('ObjectMeta')).not.toHaveProperty('managedFields')
    expect(fieldsOf('PodTemplateSpec')).toMatchObject({ metadata: 'EmbeddedObjectMeta' })
    const own = { name: 'String', uid: 'String', creationTimestamp: 'DateTime', label: 'String' }
    expect(fieldsOf('EmbeddedObjectMeta')).toMatchObject(own)
    expect(fieldsOf('StatefulSetSpec')).toMatchObject({
      volumeClaimTemplates: '[CorePersistentVolumeClaim]',
    })
    expect(typeOf('CorePersistentVolumeClaim').getInterfaces()).toEqual([])
  })

  it('promises only what the gateway itself guarantees', () => {
    const promised = new Set([
      'id',
      'nameId',
      'clusterName',
      'apiVersion',
      'kind',
      'metadata',
      'name',
      'uid',
      'creationTimestamp',
    ])
    const kinds = schema.getPossibleTypes(
      schema.getType('KubernetesObject') as GraphQLInterfaceType,
    )
    for (const kind of kinds) {
      for (const [name, { type }] of Object.entries(kind.getFields()))
        expect(isNonNullType(type), `${kind.name}.${name}`).toBe(promised.has(name))
    }
    for (const { type } of Object.values(schema.getQueryType()?.getFields() ?? {}))
      expect(isNonNullType(type)).toBe(false)
    const { containers } = typeOf('PodSpec').getFields()
    expect(isListType(containers?.type) && isNonNullType(containers.type.ofType)).toBe(false)
  })

  it('has no values of Secrets, until the operator opts in', async () => {
    const contents = ['data', 'stringData', 'immutable']
    for (const field of contents) expect(fieldsOf('Secret')).not.toHaveProperty(field)
    const outline = { type: 'String', keys: '[String!]', keyCount: 'Int' }
    expect(fieldsOf('Secret')).toMatchObject(outline)
    const open = (await schemaOf(builtIns, { secretData: true })).schema
    expect(fieldsOf('Secret', open)).toMatchObject({ ...outline, data: 'StringMap' })
  })

  it('has list, look-up and subscription fields with their arguments', () => {
    const namespaces = ['namespace: String', 'namespaces: [String!]']
    const matches = ['labelSelector: String', 'where: PodWhere']
    const filters = ['cluster: String', ...namespaces, 'ids: [ID!]', ...matches]
    const pages = [
      'orderBy: [PodOrder!]',
      'first: Int',
      'after: String',
      'last: Int',
      'before: String',
    ]
    const [cluster = '', ...others] = filters
    const overClusters = [cluster, 'clusters: [String!]', 'clusterSelector: String', ...others]
    const stream = ['resumeFrom: String', 'coalesceMs: Int']
    const key = ['cluster: String', 'namespace: String!', 'name: String!']
    expect(argsOf('Query', 'pods')).toEqual([...overClusters, ...pages, 'offset: Int'])
    expect(argsOf('Query', 'pod')).toEqual([...key, 'live: Boolean'])
    expect(argsOf('Query', 'node')).toEqual(['cluster: String', 'name: String!', 'live: Boolean'])
    expect(argsOf('Subscription', 'pods')).toEqual([...overClusters, ...stream])
    expect(argsOf('Subscription', 'pod')).toEqual([...key, ...stream])
    expect(argsOf('Node', 'pods')).toEqual([...namespaces, ...matches, ...pages])
    expect(argsOf('Service', 'pods')).toEqual([...matches, ...pages])
    expect(argsOf('Pod', 'owned')).toEqual([...pages.slice(1), 'types: [String!]'])
    expect(argsOf('PodConnection', 'facets')).toEqual([
      'by: [String!]!',
      'top: Int',
      'sum: [String!]',
    ])
    expect(argsOf('PodConnection', 'sum')).toEqual(['of: [String!]!'])
    expect(argsOf('Query', 'objectByRef')).toEqual([
      'cluster: String',
      'apiVersion: String!',
      'kind: String!',
      'namespace: String',
      'name: String!',
      'at: DateTime',
      'atVersion: String',
    ])
  })

  it('sends frames as they are documented', () => {
    expect(fieldsOf('PodFrame')).toEqual({
      reset: 'Boolean!',
      synced: 'Boolean!',
      changes: '[PodChange!]!',
      resumeToken: 'String!',
      resourceVersion: 'String!',
      staleSince: 'DateTime',
      incomplete: '[ClusterGap!]!',
      visible: 'Visibility!',
    })
    expect(fieldsOf('PodChange')).toEqual({
      type: 'ChangeType!',
      removal: 'Removal',
      objectId: 'ID!',
      object: 'Pod',
      previous: 'JSON',
      finalStateKnown: 'Boolean!',
    })
    expect(fieldsOf('PodConnection')).toEqual({
      nodes: '[Pod!]!',
      edges: '[PodEdge!]!',
      pageInfo: 'PageInfo!',
      totalCount: 'Int!',
      staleSince: 'DateTime',
      incomplete: '[ClusterGap!]!',
      visible: 'Visibility!',
      facets: '[Facet!]',
      sum: '[IndexSum!]',
      resourceVersion: 'String!',
      resumeToken: 'String!',
    })
    expect(fieldsOf('Facet')).toEqual({
      by: 'String!',
      values: '[FacetValue!]!',
      distinctCount: 'Int!',
      missingCount: 'Int!',
    })
    expect(fieldsOf('FacetValue')).toEqual({ value: 'JSON!', count: 'Int!', sums: '[IndexSum!]!' })
    expect(fieldsOf('IndexSum')).toEqual({
      of: 'String!',
      value: 'Quantity!',
      number: 'Float!',
      count: 'Int!',
    })
    expect(fieldsOf('KubernetesObjectConnection')).toMatchObject({ types: '[String!]!' })
    expect(fieldsOf('KubernetesObjectConnection')).not.toHaveProperty('resourceVersion')
  })

  it('names the type of a page after its field', () => {
    expect(fieldsOf('Subscription')).toMatchObject({ podsPage: 'PodPage', nodesPage: 'NodePage' })
    expect(fieldsOf('PodPage')).toMatchObject({ changes: '[PodPageChange!]!' })
  })

  it('calls the name of a type `type`, and the kind as the API writes it `kind`', () => {
    expect(fieldsOf('TypeCount')).toEqual({ type: 'String!', count: 'Int!' })
    expect(fieldsOf('Graph')).toMatchObject({ types: '[String!]!' })
    expect(fieldsOf('GatewayResource')).toMatchObject({ type: 'String!' })
    expect(inputTypesOf('UsedByWhere')).toEqual({ types: '[String!]' })
    expect(argsOf('Query', 'search')).toContain('types: [String!]')
    expect(argsOf('Query', 'can')).toContain('type: String')
    const named = Object.values(schema.getTypeMap()).flatMap((type) =>
      isObjectType(type) && 'kind' in type.getFields() ? [type.name] : [],
    )
    const kinds = schema.getPossibleTypes(
      schema.getType('KubernetesObject') as GraphQLInterfaceType,
    )
    const own = named.filter((name) => !kinds.some((kind) => kind.name === name))
    expect(own.filter((name) => /^(Gateway|Graph|Search|ObjectRef$|UsedBy)/.test(name))).toEqual([
      'GatewayResource',
      'ObjectRef',
      'GraphNode',
    ])
  })

  it('says of every object where it is, and of which other objects it speaks', () => {
    expect(fieldsOf('Pod')).toMatchObject({
      clusterName: 'String!',
      cluster: 'GatewayCluster',
      namespaceObject: 'Namespace',
      ownerChain: '[ObjectRef!]',
    })
    expect(fieldsOf('Node')).not.toHaveProperty('namespaceObject')
    expect(fieldsOf('Event')).toMatchObject({ involved: 'ObjectRef' })
    expect(fieldsOf('HorizontalPodAutoscaler')).toMatchObject({ target: 'ObjectRef' })
    expect(fieldsOf('ObjectRef')).toEqual({
      id: 'ID!',
      nameId: 'ID!',
      apiVersion: 'String',
      kind: 'String!',
      namespace: 'String',
      name: 'String!',
      object: 'KubernetesObject',
    })
    expect(fieldsOf('GatewayCluster')).toMatchObject({ state: 'GatewayClusterState!' })
  })

  it('has one filter for each type of values, with every operator that they have', () => {
    const comparisons = ['lt', 'lte', 'gt', 'gte']
    expect(inputFieldsOf('BooleanFilter')).toEqual(['eq', 'in', 'exists', 'not'])
    for (const filter of ['IntFilter', 'DateTimeFilter', 'QuantityFilter'])
      expect(inputFieldsOf(filter)).toEqual(['eq', 'in', 'exists', 'not', ...comparisons])
    expect(inputFieldsOf('StringFilter')).toEqual([
      'eq',
      'in',
      'exists',
      'not',
      ...comparisons,
      'startsWith',
      'endsWith',
      'contains',
    ])
    expect(inputFieldsOf('LabelFilter')).toEqual(['key', ...inputFieldsOf('StringFilter')])
  })

  it('has one field of where for each index, one for each relation, and orders by each index', () => {
    const where = inputFieldsOf('PodWhere')
    const indexes = inputFieldsOf('PodOrder')
    expect(schema.getType('PodOrder')).toMatchObject({ isOneOf: true })
    expect(where.slice(0, indexes.length)).toEqual(indexes)
    expect(where.slice(-4)).toEqual(['labels', 'and', 'or', 'not'])
    expect(indexes).toEqual([
      'name',
      'namespace',
      'creationTimestamp',
      'health',
      'changed',
      'phase',
      'nodeName',
      'podIP',
      'image',
      'serviceAccountName',
      'restarts',
      'containerRestarts',
      'lastRestartTime',
      'waitingReason',
      'terminatedReason',
      'reason',
      'ready',
      'cpuRequests',
      'memoryRequests',
      'cpuLimits',
      'memoryLimits',
      'usageCpu',
      'usageMemory',
    ])
    const relations = where.slice(indexes.length, -4)
    expect(Object.keys(fieldsOf('Pod'))).toEqual(expect.arrayContaining(relations))
    expect(relations).toEqual(expect.arrayContaining(['node', 'deployment', 'services', 'events']))
    expect(inputTypesOf('PodWhere')).toMatchObject({
      node: 'NodeWhereOne',
      services: 'ServiceWhereMany',
    })
    expect(inputFieldsOf('NodeWhereOne')).toEqual(['is', 'isNot'])
    expect(inputFieldsOf('ServiceWhereMany')).toEqual(['some', 'none', 'every'])
  })

  it('filters by the index where a relation has the same name', () => {
    expect(inputTypesOf('PodWhere')).toMatchObject({ namespace: 'StringFilter' })
  })
})
