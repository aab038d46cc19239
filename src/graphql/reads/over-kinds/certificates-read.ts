/*
 * `tlsCertificates`: what ends when. The rows are the Certificates of cert-manager, from their cache, and the TLS Secrets whose
 * certificates the gateway has looked at (`CertificateEnds`), for callers who may `get` the Secrets of the namespace. One
 * page of all rows, the soonest end first. A kind that is not looked at is in `notLookedAt`, and a row of `incomplete` says why:
 * the caller or the gateway may not list it, it is being read, it cannot be read, or the gateway does not look into Secrets.
 */

import { certificateEndsOf } from '../../../cache/certificate-ends.ts'
import { fieldsOf, textOf } from '../../../kubernetes/fields.ts'
import { splitObjectKey } from '../../../kubernetes/object.ts'
import { isInScope } from '../../../query/condition/scope.ts'
import { examinedPerDecoded } from '../../../query/condition/work-budget.ts'
import { listHash, positionIn } from '../../../query/page/cursor.ts'
import { compileOrder, type OrderPosition } from '../../../query/page/list-order.ts'
import { pageAfter, pageSizeOf } from '../../../query/page/page.ts'
import {
  clustersNamed,
  type FoundObject,
  isOverClusters,
  isReachable,
  type KindView,
} from '../../prepare/kind-view.ts'
import type {
  TlsCertificate,
  TlsCertificatesArguments,
  Visibility,
} from '../../schema/gateway-types.ts'
import { ClientError } from '../../errors/client-error.ts'
import { failedRead } from '../../prepare/read-failures.ts'
import { ObjectRef } from '../../schema/object-ref.ts'
import type { RelatedNeed } from '../../served/schema-relations.ts'
import { type ServedSchema, servesSecretData } from '../../served/served-schema.ts'
import { namespacesIn } from '../list-arguments.ts'
import { refOf } from '../object-read.ts'
import { mayGetIn } from '../permissions.ts'
import { Places } from '../places.ts'
import type { ReadRun } from '../read-run.ts'
import { rowMembers } from './kinds-connection.ts'

interface Row {
  readonly position: OrderPosition
  readonly value: () => TlsCertificate
}

/** Comparing the dates of a certificate takes as long as so many tests. */
const testsPerRow = 4
const maxNames = 20

const terms = compileOrder([{ notAfter: 'ASC' }], [{ name: 'notAfter', type: 'dateTime' }])
const order = { terms, backwards: false }
const positionOf = ({ position }: Row): OrderPosition => position

/** The kinds that `tlsCertificates` reads in a cluster. */
export function certificateNeeds(
  { kindOf, clusters }: ServedSchema,
  _args: unknown,
  cluster: string,
): readonly RelatedNeed[] {
  return [kindOf('cert-manager.io', 'Certificate'), kindOf('', 'Secret')].flatMap((kind) =>
    kind === undefined || kind.uncached || clusters.get(cluster)?.serves(kind.resource) === false
      ? []
      : [{ kind, indexes: {} }],
  )
}

/** A page of certificates. Throws `ArgumentError`, `ClientError` and `QueryTooCostlyError`. */
export function readCertificates(run: ReadRun, args: TlsCertificatesArguments): object {
  const { served, budget, limits } = run
  const { first, after, endsBefore } = args
  const clusters = clustersNamed(served, args)
  const isOver = isOverClusters(args)
  const namespaces = namespacesIn(args)
  const { size } = pageSizeOf({ first }, limits.maxPageSize)
  const hash = listHash({
    list: `${isOver ? '*' : clusters.join()}/tlsCertificates`,
    clusters: args.clusters,
    clusterSelector: args.clusterSelector,
    namespaces: namespaces ?? null,
    endsBefore,
  })
  const from = positionIn(after, { hash, argument: 'after', terms: terms.length })
  const places = new Places(run, {
    failsOnce: true,
    fails: (_, { code }) => code !== 'FORBIDDEN',
  })
  for (const cluster of clusters) {
    for (const need of certificateNeeds(served, args, cluster)) {
      const at = { cluster, ...need, isOptional: isOver }
      places.add(
        at,
        (part) => part,
        () => namespaces,
      )
    }
  }
  const within = namespaces && new Set(namespaces)
  const secrets = { areHidden: false }
  const beforeMs = Date.parse(endsBefore ?? '')
  const rows = places.parts
    .flatMap((part) =>
      part.kind.resource.kind === 'Secret'
        ? secretRows(run, part, within, places, secrets, isOver)
        : managedRows(run, part, within),
    )
    .filter(({ position: { values } }) => Number.isNaN(beforeMs) || Number(values[0]) < beforeMs)
  budget.spend('tests', testsPerRow * rows.length)
  const page = pageAfter({ rows, positionOf, order, from, size, hash, budget })
  const read = places.read()
  return {
    ...read,
    visible: (): Visibility => {
      const visible = read.visible()
      return visible === 'ALL' && secrets.areHidden ? 'NAMESPACES' : visible
    },
    ...rowMembers(run, page, ({ value }) => value()),
  }
}

/** The ids of a part that the caller may see in the namespaces. */
function* shownIds(
  { budget }: ReadRun,
  { view, scope }: KindView,
  within: ReadonlySet<string> | undefined,
): Iterable<number> {
  for (const id of view.ids()) {
    budget.spend('examined', 1)
    const key = view.keyOf(id)
    if (within?.has(splitObjectKey(key).namespace) !== false && isInScope(scope, key)) yield id
  }
}

/** Before all numbers. */
const notIssued = '-'

/**
 * Those without an end are first: they are not issued. Milliseconds have 13 digits until the year 2286, and certificates an end
 * before 1970 no use.
 */
function placeOf({ part, id }: FoundObject, notAfterMs: number | undefined): OrderPosition {
  const hasEnd = notAfterMs !== undefined && !Number.isNaN(notAfterMs)
  return {
    values: [hasEnd ? String(Math.max(0, notAfterMs)).padStart(15, '0') : notIssued],
    key: `${part.cluster} ${part.kind.typeName} ${part.view.keyOf(id)}`,
  }
}

/** The Certificates of cert-manager. */
function managedRows(
  run: ReadRun,
  part: KindView,
  within: ReadonlySet<string> | undefined,
): readonly Row[] {
  return Array.from(shownIds(run, part, within), (id): Row => {
    run.budget.spend('examined', examinedPerDecoded)
    const found = { part, id }
    const { spec: given, status: told } = part.view.object(id) as {
      readonly spec?: unknown
      readonly status?: unknown
    }
    const [spec, status] = [fieldsOf(given), fieldsOf(told)]
    const time = (name: string): string | null => textOf(status[name]) ?? null
    const notAfter = time('notAfter')
    const position = placeOf(found, notAfter === null ? undefined : Date.parse(notAfter))
    const value = (): TlsCertificate => {
      const object = refOf(found)
      const { kind = 'Issuer', name } = fieldsOf(spec['issuerRef'])
      const secret = textOf(spec['secretName'])
      const names = ['dnsNames', 'ipAddresses', 'uris', 'emailAddresses'].flatMap(
        (list) => spec[list],
      )
      const texts = [...new Set([spec['commonName'], ...names].flatMap((one) => textOf(one) ?? []))]
      return {
        cluster: part.cluster,
        object,
        secret: secret === undefined ? null : secretRef(object, secret),
        notAfter,
        notBefore: time('notBefore'),
        renewalTime: time('renewalTime'),
        names: texts.slice(0, maxNames),
        issuer: textOf(name) === undefined ? null : `${textOf(kind) ?? 'Issuer'} ${textOf(name)}`,
      }
    }
    return { position, value }
  })
}

function secretRef({ cluster, namespace }: ObjectRef, name: string): ObjectRef {
  return new ObjectRef({
    cluster,
    group: '',
    apiVersion: 'v1',
    kind: 'Secret',
    namespace,
    name,
    uid: null,
  })
}

/** The TLS Secrets that no Certificate writes. Notes what the gateway has not looked at, and what the caller may not get. */
function secretRows(
  run: ReadRun,
  part: KindView,
  within: ReadonlySet<string> | undefined,
  places: Places,
  secrets: { areHidden: boolean },
  isOver: boolean,
): readonly Row[] {
  const { served, budget } = run
  const { view, kind, scope, cluster } = part
  const cache = served.clusters.get(cluster)
  if (cache === undefined || served.problemRulesOff.has('expiringTlsSecrets')) {
    const message = servesSecretData(served)
      ? 'the rule expiringTlsSecrets is off'
      : 'the gateway serves no data of Secrets: secretData is off'
    places.miss(part, new ClientError('UNSUPPORTED', message))
    return []
  }
  const ends = certificateEndsOf(cache)
  const state = view.index('uid').revision
  if (ends.isOld(state) && isReachable(served, cluster)) {
    if (isOver) void ends.read(kind.resource, state)
    else run.direct.certificateEnds(part, state)
  }
  const { failure } = ends
  if (failure !== undefined)
    places.miss(part, failedRead(part, failure, run.parts.access !== undefined))
  else if (!ends.isKnown) {
    places.miss(part, new ClientError('NOT_SYNCED', 'the gateway still reads the TLS Secrets'))
  }
  budget.spend('tests', testsPerRow * ends.byUid.size)
  const allowed = new Map<string, boolean | undefined>()
  const rows: Row[] = []
  for (const [uid, { resourceVersion, notBeforeMs, notAfterMs, names, issuer }] of ends.byUid) {
    const id = view.idOfUid(uid)
    const key = id === undefined ? '' : view.keyOf(id)
    const { namespace } = splitObjectKey(key)
    if (id === undefined || !isInScope(scope, key) || within?.has(namespace) === false) continue
    // Another version may have another certificate.
    if (view.object(id).metadata.resourceVersion !== resourceVersion) continue
    if (!allowed.has(namespace)) allowed.set(namespace, mayGetIn(run, part, namespace))
    if (allowed.get(namespace) !== true) {
      secrets.areHidden = true
      continue
    }
    const found = { part, id }
    rows.push({
      position: placeOf(found, notAfterMs),
      value: () => {
        const object = refOf(found)
        const [notAfter, notBefore] = [notAfterMs, notBeforeMs].map((ms) =>
          new Date(ms).toISOString(),
        )
        return {
          cluster,
          object,
          secret: object,
          notAfter: notAfter ?? null,
          notBefore: notBefore ?? null,
          renewalTime: null,
          names,
          issuer,
        }
      },
    })
  }
  return rows
}
