/*
 * CustomResourceDefinitions as operators publish them, made from numbers. Of 248 definitions, one in twelve runs pods and
 * has whole pod templates, two have so many of them that their schemas have more than 20,000 parts, half describe a cloud
 * resource three times (what is wanted, what it began with, what there is), and the others route, select and refer. The
 * same structures return in one definition a dozen times: pod templates, selectors, headers, references to Secrets. So
 * 248 definitions have about 25,000 object types, of which 6,000 differ within their definition.
 */

/** A schema of OpenAPI, as far as it is made here. */
export interface MadeSchema {
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, MadeSchema>>
  readonly required?: readonly string[]
  readonly items?: MadeSchema
  readonly additionalProperties?: MadeSchema
  readonly 'x-kubernetes-int-or-string'?: true
}

const text: MadeSchema = { type: 'string' }
const flag: MadeSchema = { type: 'boolean' }
const int: MadeSchema = { type: 'integer', format: 'int32' }
const long: MadeSchema = { type: 'integer', format: 'int64' }
const time: MadeSchema = { type: 'string', format: 'date-time' }
const port: MadeSchema = { 'x-kubernetes-int-or-string': true }
const texts: MadeSchema = { type: 'object', additionalProperties: text }
const amounts: MadeSchema = { type: 'object', additionalProperties: port }
const scalars = [text, int, flag, text, time, text, long, texts] as const

const list = (items: MadeSchema): MadeSchema => ({ type: 'array', items })
const names = list(text)

/** An object; each property gets a sentence or two, which depend on its name alone. */
function object(
  properties: Readonly<Record<string, MadeSchema>>,
  required: readonly string[] = [],
): MadeSchema {
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [
        name,
        { description: description(name), ...schema },
      ]),
    ),
  }
}

const sentences = [
  'says what the controller of this kind wants to know before it acts.',
  'More than one is allowed; the order does not matter, and duplicates are ignored by the controller.',
  'Cannot be updated.',
  'If it is not specified, the default of the operator is used, which depends on its version and configuration.',
] as const

function description(name: string): string {
  const [first, ...more] = sentences
  return `${name} ${first} ${more.slice(0, name.length % 4).join(' ')}`.trim()
}

const times = (count: number, name: string, start: number = 0): Record<string, MadeSchema> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `${name}${at}`,
      scalars[(at + start) % scalars.length] ?? text,
    ]),
  )

const keyOf = object({ name: text, key: text, optional: flag }, ['key'])
const expressions = list(object({ key: text, operator: text, values: names }, ['key', 'operator']))
const selector = object({ matchLabels: texts, matchExpressions: expressions })
const reference = object({ apiGroup: text, kind: text, name: text, namespace: text }, ['name'])
const header = object({ name: text, value: text, valueFrom: object({ secretKeyRef: keyOf }) })
const headers = list(header)
const conditions = list(
  object({ type: text, status: text, reason: text, message: text, lastTransitionTime: time }, [
    'type',
    'status',
  ]),
)

const handler = {
  exec: object({ command: names }),
  httpGet: object(
    {
      host: text,
      path: text,
      port,
      scheme: text,
      httpHeaders: list(object({ name: text, value: text })),
    },
    ['port'],
  ),
  tcpSocket: object({ host: text, port }, ['port']),
}
const probe = object({
  ...handler,
  grpc: object({ port: int, service: text }),
  ...times(6, 'threshold', 1),
})
const hook = object({ ...handler, sleep: object({ seconds: long }) })
const rights = object({
  capabilities: object({ add: names, drop: names }),
  seLinuxOptions: object({ level: text, role: text, type: text, user: text }),
  runAsUser: long,
  privileged: flag,
  seccompProfile: object({ type: text, localhostProfile: text }),
})
const environment = object(
  {
    name: text,
    value: text,
    valueFrom: object({
      configMapKeyRef: keyOf,
      fieldRef: object({ apiVersion: text, fieldPath: text }),
      resourceFieldRef: object({ containerName: text, divisor: port, resource: text }),
      secretKeyRef: keyOf,
    }),
  },
  ['name'],
)
const source = object({ name: text, optional: flag })
const container = object(
  {
    name: text,
    image: text,
    command: names,
    args: names,
    env: list(environment),
    envFrom: list(object({ prefix: text, configMapRef: source, secretRef: source })),
    ports: list(object({ name: text, containerPort: int, hostPort: int, protocol: text })),
    resources: object({ limits: amounts, requests: amounts, claims: list(object({ name: text })) }),
    livenessProbe: probe,
    readinessProbe: probe,
    startupProbe: probe,
    lifecycle: object({ postStart: hook, preStop: hook }),
    securityContext: rights,
    volumeMounts: list(object({ name: text, mountPath: text, subPath: text, readOnly: flag })),
    volumeDevices: list(object({ name: text, devicePath: text })),
    ...times(6, 'setting'),
  },
  ['name'],
)
const nodeTerm = object({ matchExpressions: expressions, matchFields: expressions })
const podTerm = object({
  labelSelector: selector,
  namespaceSelector: selector,
  namespaces: names,
  topologyKey: text,
})
const podAffinity = object({
  preferred: list(object({ weight: int, podAffinityTerm: podTerm })),
  required: list(podTerm),
})
const items = list(object({ key: text, path: text, mode: int }))
const volume = object({
  name: text,
  configMap: object({ name: text, optional: flag, items }),
  secret: object({ secretName: text, optional: flag, items }),
  emptyDir: object({ medium: text, sizeLimit: port }),
  hostPath: object({ path: text, type: text }),
  persistentVolumeClaim: object({ claimName: text, readOnly: flag }),
  projected: object({
    sources: list(
      object({
        configMap: object({ name: text, optional: flag, items }),
        secret: object({ name: text, optional: flag, items }),
        serviceAccountToken: object({ audience: text, expirationSeconds: long, path: text }),
        downwardAPI: object({
          items: list(
            object({
              path: text,
              mode: int,
              fieldRef: object({ apiVersion: text, fieldPath: text }),
            }),
          ),
        }),
      }),
    ),
  }),
  csi: object({
    driver: text,
    readOnly: flag,
    volumeAttributes: texts,
    nodePublishSecretRef: object({ name: text }),
  }),
  nfs: object({ path: text, server: text, readOnly: flag }),
  ephemeral: object({
    volumeClaimTemplate: object({
      metadata: texts,
      spec: object({
        accessModes: names,
        selector,
        dataSource: reference,
        resources: object({ limits: amounts, requests: amounts }),
        storageClassName: text,
      }),
    }),
  }),
  iscsi: object({ iqn: text, lun: int, targetPortal: text, secretRef: object({ name: text }) }),
  cephfs: object({ monitors: names, path: text, user: text, secretRef: object({ name: text }) }),
})
/** A pod's specification: some 180 objects, of which 70 differ. */
export const podTemplate: MadeSchema = object({
  metadata: object({ labels: texts, annotations: texts, name: text }),
  spec: object({
    containers: list(container),
    initContainers: list(container),
    ephemeralContainers: list(container),
    volumes: list(volume),
    affinity: object({
      nodeAffinity: object({
        preferred: list(object({ weight: int, preference: nodeTerm })),
        required: object({ nodeSelectorTerms: list(nodeTerm) }),
      }),
      podAffinity,
      podAntiAffinity: podAffinity,
    }),
    tolerations: list(
      object({ key: text, operator: text, value: text, effect: text, tolerationSeconds: long }),
    ),
    topologySpreadConstraints: list(
      object({ labelSelector: selector, maxSkew: int, topologyKey: text, whenUnsatisfiable: text }),
    ),
    securityContext: object({
      seLinuxOptions: object({ level: text, role: text, type: text, user: text }),
      seccompProfile: object({ type: text, localhostProfile: text }),
      sysctls: list(object({ name: text, value: text })),
      fsGroup: long,
      runAsUser: long,
    }),
    imagePullSecrets: list(object({ name: text })),
    hostAliases: list(object({ ip: text, hostnames: names })),
    dnsConfig: object({
      nameservers: names,
      searches: names,
      options: list(object({ name: text, value: text })),
    }),
    ...times(14, 'option'),
  }),
})

/** Describes one cloud resource: so many structures of their own, some of them within others. */
function cloudResource(seed: number, structures: number): MadeSchema {
  const part = (at: number): MadeSchema =>
    object({
      ...times(3 + ((seed + at) % 5), `part${at}x`, at),
      ...(at % 3 === 0 && { kmsKeyRef: reference, kmsKeySelector: selector }),
      ...(at % 4 === 1 && at + 4 < structures && { nested: list(part(at + 4)) }),
    })
  return object({
    ...times(6 + (seed % 9), 'argument', seed),
    ...Object.fromEntries(
      Array.from({ length: structures }, (_, at) => [
        `block${at}`,
        at % 2 === 0 ? list(part(at)) : part(at),
      ]),
    ),
    subnetIdRefs: list(reference),
    subnetIdSelector: selector,
    roleArnRef: reference,
    roleArnSelector: selector,
  })
}

/** Describes routes: matches and filters, each with headers. */
function routes(seed: number): MadeSchema {
  const match = object({ ...times(2 + (seed % 4), 'match'), headers, selector })
  const change = object({ set: headers, add: headers, remove: names })
  const filter = object({ request: change, response: change, mirror: reference })
  const rule = object({
    matches: list(match),
    filters: list(filter),
    backends: list(object({ ref: reference, weight: int })),
  })
  const own = Array.from(
    { length: 8 + (seed % 5) },
    (_, at) => [`own${at}`, object(times(2 + (at % 3), `own${at}x`, at))] as const,
  )
  return object({
    ...times(5 + (seed % 7), 'field', seed),
    rules: list(rule),
    defaults: filter,
    ...Object.fromEntries(own),
    auth: object({ tokenRef: keyOf, caRef: keyOf, clientRef: object({ cert: keyOf, key: keyOf }) }),
    selector,
    namespaceSelector: selector,
  })
}

function withoutDescriptions(schema: MadeSchema): MadeSchema {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === 'description' && typeof value === 'string' ? undefined : value,
    ),
  ) as MadeSchema
}

function specOf(number: number): MadeSchema {
  if (number % 248 === 1) {
    const plain = withoutDescriptions(podTemplate)
    const places = Array.from({ length: 27 }, (_, at) => [`step${at}`, list(plain)] as const)
    return {
      ...object({ templateDefaults: plain, ...times(20, 'field'), ...Object.fromEntries(places) }),
    }
  }
  if (number % 24 === 0) {
    return object({
      template: podTemplate,
      ...(number % 48 === 0 && { migration: object({ template: podTemplate }) }),
      selector,
      ...times(8 + (number % 11), 'field'),
      storage: cloudResource(number, 4),
    })
  }
  if (number % 2 === 0) {
    const structures = 3 + (number % 10)
    return object({
      forProvider: cloudResource(number, structures),
      initProvider: cloudResource(number, structures),
      providerConfigRef: reference,
      writeConnectionSecretToRef: object({ name: text, namespace: text }),
      ...times(2, 'policy'),
    })
  }
  return routes(number)
}

function statusOf(number: number): MadeSchema {
  const seen = number % 2 === 0 && number % 24 !== 0
  return object({
    conditions,
    ...times(3 + (number % 4), 'state'),
    ...(seen && { atProvider: cloudResource(number, 3 + (number % 10)) }),
  })
}

/** Where an operator's definition differs from what its number says. */
export interface OperatorOptions {
  /** Another one gives the kind one field more. */
  readonly generation?: number
  /** Overrides parts of `spec`'s properties, to make another version of the definition. */
  readonly spec?: (spec: MadeSchema) => MadeSchema
}

/** The names by which the API serves the definition of a number; eight share a group. */
export function operatorNames(number: number): {
  readonly group: string
  readonly kind: string
  readonly plural: string
} {
  const group = `group${Math.floor(number / 8)}.operators.example.com`
  return { group, kind: `Operand${number}`, plural: `operand${number}s` }
}

/** The schema of the objects of a number's definition. */
export function operatorSchema(
  number: number,
  { generation = 0, spec = (made) => made }: OperatorOptions = {},
): MadeSchema {
  const made = specOf(number)
  const changed =
    generation === 0
      ? made
      : { ...made, properties: { ...made.properties, [`generation${generation}`]: text } }
  const { properties, ...whole } = object({
    apiVersion: text,
    kind: text,
    spec: spec(changed),
    status: statusOf(number),
  })
  // API servers describe it themselves, and refuse other descriptions.
  return { ...whole, properties: { ...properties, metadata: { type: 'object' } } }
}

/** The CustomResourceDefinition of a number. */
export function operatorDefinition(number: number, options: OperatorOptions = {}): object {
  const { group, kind, plural } = operatorNames(number)
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [
            {
              name: 'Ready',
              type: 'string',
              jsonPath: '.status.conditions[?(@.type=="Ready")].status',
            },
          ],
          schema: { openAPIV3Schema: operatorSchema(number, options) },
        },
      ],
    },
  }
}

/** A random object of a number's definition. */
export function operatorObject<Metadata>(
  number: number,
  metadata: Metadata,
  random: () => number,
): {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Metadata
  readonly spec: unknown
  readonly status: unknown
} {
  const { group, kind } = operatorNames(number)
  const { spec, status } = operatorSchema(number).properties ?? {}
  const values = { spec: valueOf(spec ?? {}, random), status: valueOf(status ?? {}, random) }
  return { apiVersion: `${group}/v1`, kind, metadata, ...values }
}

/** A random value of a schema. */
function valueOf(schema: MadeSchema, random: () => number, depth = 0): unknown {
  const { type, format, properties, items: item, additionalProperties: values } = schema
  const some = (): number => Math.floor(random() * 3)
  if (properties !== undefined) {
    return Object.fromEntries(
      Object.entries(properties).flatMap(([name, part]) => {
        const isLeft = schema.required?.includes(name) !== true && random() < 0.35 + depth / 12
        return isLeft ? [] : [[name, valueOf(part, random, depth + 1)]]
      }),
    )
  }
  if (item !== undefined)
    return Array.from({ length: some() }, () => valueOf(item, random, depth + 1))
  if (values !== undefined) {
    return Object.fromEntries(
      Array.from({ length: some() }, (_, at) => [`k${at}`, valueOf(values, random)]),
    )
  }
  if (schema['x-kubernetes-int-or-string'] === true) return random() < 0.5 ? some() : `${some()}%`
  if (type === 'integer') return Math.floor(random() * 1_000)
  if (type === 'boolean') return random() < 0.5
  if (format === 'date-time') return `2026-0${1 + some()}-11T10:00:0${some()}Z`
  return `text ${Math.floor(random() * 100)}`
}
