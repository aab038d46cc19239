import type { OpenApiSchema } from '../../kubernetes/open-api.ts'

const text: OpenApiSchema = { type: 'string' }
const flag: OpenApiSchema = { type: 'boolean' }
const long: OpenApiSchema = { type: 'integer', format: 'int64' }
const moment: OpenApiSchema = { type: 'string', format: 'date-time' }
const texts: OpenApiSchema = { type: 'object', additionalProperties: text }

/** The definition of every object's `metadata`. */
export const objectMetaDefinition = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

const ownerReferenceDefinition = 'io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference'

/** What the gateway relies on even where a cluster publishes no OpenAPI documents: what every server has. */
export const fallbackDefinitions: Readonly<Record<string, OpenApiSchema>> = {
  [objectMetaDefinition]: {
    type: 'object',
    properties: {
      annotations: texts,
      creationTimestamp: moment,
      deletionGracePeriodSeconds: long,
      deletionTimestamp: moment,
      finalizers: { type: 'array', items: text },
      generateName: text,
      generation: long,
      labels: texts,
      name: text,
      namespace: text,
      ownerReferences: {
        type: 'array',
        items: { $ref: `#/components/schemas/${ownerReferenceDefinition}` },
      },
      resourceVersion: text,
      uid: text,
    },
  },
  [ownerReferenceDefinition]: {
    type: 'object',
    properties: {
      apiVersion: text,
      blockOwnerDeletion: flag,
      controller: flag,
      kind: text,
      name: text,
      uid: text,
    },
  },
}
