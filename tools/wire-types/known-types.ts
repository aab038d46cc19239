import type { KnownTypeName } from '../../src/kubernetes/typescript/custom-types.ts'

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const apiextensions = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1'

/** Where a type that is not generated comes from. */
export interface KnownType {
  readonly name: string
  readonly from: string
}

const scalars = '../scalars.ts'
const object = '../object.ts'

/** Definitions that stand for scalars or for types that are written by hand. */
export const knownTypes: Readonly<Record<string, KnownType>> = {
  [`${meta}.Time`]: { name: 'Time', from: scalars },
  [`${meta}.MicroTime`]: { name: 'MicroTime', from: scalars },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { name: 'Quantity', from: scalars },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { name: 'IntOrString', from: scalars },
  [`${meta}.OwnerReference`]: { name: 'OwnerReference', from: object },
  [`${meta}.FieldsV1`]: { name: 'JsonObject', from: object },
  'io.k8s.apimachinery.pkg.runtime.RawExtension': { name: 'JsonObject', from: object },
  [`${apiextensions}.JSON`]: { name: 'Json', from: object },
}

const inObject = new Set<KnownTypeName>(['Json', 'JsonObject', 'ObjectMeta', 'Unstructured'])

/** Where a type that is written by hand comes from. */
export function handWritten(name: KnownTypeName): KnownType {
  return { name, from: inObject.has(name) ? object : scalars }
}

/** The metadata of templates: every field may be missing, the name too. */
export const embeddedObjectMeta = 'EmbeddedObjectMeta'

/** The definition of metadata. */
export const objectMetaDefinition: string = `${meta}.ObjectMeta`

/** A definition with an alternative to it, for which OpenAPI has no words. */
export interface Alternative {
  readonly definition: string
  readonly or: string | { readonly listOf: string }
}

const schema = `${apiextensions}.JSONSchemaProps`

/** Definitions that OpenAPI leaves open and whose Go types write one of two forms. */
export const alternatives: Readonly<Record<string, Alternative>> = {
  [`${schema}OrArray`]: { definition: schema, or: { listOf: schema } },
  [`${schema}OrBool`]: { definition: schema, or: 'boolean' },
  [`${schema}OrStringArray`]: { definition: schema, or: 'readonly string[]' },
}
