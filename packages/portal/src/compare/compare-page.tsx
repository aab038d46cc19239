import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'
import { FieldChanges } from '../actions/field-changes.tsx'
import { useViewTitle } from '../frame/view-title.ts'
import { CompareChoicesDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import controls from '../look/controls.module.css'
import { gapSentences } from '../look/gaps.ts'
import { Failure, Notice } from '../look/notice.tsx'
import { PageHead } from '../look/page-head.tsx'
import { PlaceLink } from '../look/place-link.tsx'
import { type LiveObject, type SeenObject, useLiveObject } from '../object/live-object.ts'
import { yamlOf } from '../object/yaml-text.ts'
import type { CompareSearch } from '../router.tsx'
import { namedParams, noNamespace } from '../scope.ts'
import { words } from '../words.ts'
import { comparableOf, compared } from './comparable.ts'
import { compareWords as say } from './compare-words.ts'
import styles from './compare.module.css'
import { groupOf } from '../object/json.ts'
import { timeOfDay } from '../look/times.ts'

// It brings CodeMirror.
const YamlDifference = lazy(async () => ({
  default: (await import('./yaml-difference.tsx')).YamlDifference,
}))

/** The `nameId`s of both objects, or their `id`s. */
interface Sides {
  readonly left: string
  readonly right: string | undefined
}

/** The page of two objects and their differences: `/compare?left=CLUSTER/ConfigMap/NAMESPACE/NAME&right=…`. */
export function ComparePage() {
  const { left, right } = useSearch({ from: '/compare' })
  const navigate = useNavigate({ from: '/compare' })
  const show = (next: Sides): void => {
    void navigate({ search: (before: CompareSearch) => ({ ...before, ...next }) as never })
  }
  if (left === undefined) return <Nothing />
  return <Compare key={`${left} ${right ?? ''}`} left={left} right={right} show={show} />
}

function Nothing() {
  useViewTitle(say.title)
  return (
    <Notice title={say.nothing} isView>
      <p>{say.nothingNext}</p>
    </Notice>
  )
}

function Compare({
  left,
  right,
  show,
}: {
  readonly left: string
  readonly right: string | undefined
  readonly show: (next: Sides) => void
}) {
  const one = useLiveObject(left)
  const { object } = one
  const clusters = [left, right].flatMap((side = '') => namedParams(side)?.cluster ?? [])
  useViewTitle(object === undefined ? say.title : say.of(object.kind, object.name), { clusters })
  if (object === undefined) return <Absent live={one} id={left} isView />
  return (
    <div className={styles['page']}>
      <PageHead title={say.of(object.kind, object.name)}>
        {right === undefined ? null : (
          <>
            <button
              type="button"
              className={controls['button']}
              onClick={() => show({ left: right, right: left })}
            >
              {say.swap}
            </button>
            <button
              type="button"
              className={controls['button']}
              onClick={() => show({ left, right: undefined })}
            >
              {say.other}
            </button>
          </>
        )}
      </PageHead>
      {right === undefined ? (
        <Choose object={object} choose={(id) => show({ left, right: id })} />
      ) : (
        <Pair one={one} object={object} right={right} />
      )}
    </div>
  )
}

function Absent({
  live: { state, errors },
  id,
  isView = false,
}: {
  readonly live: LiveObject
  /** The `nameId` of the side, or its `id`. */
  readonly id: string
  readonly isView?: boolean
}) {
  if (state === 'loading') return <p role="status">{words.object.loading}</p>
  return state === 'refused' ? (
    <Failure errors={errors} title={words.object.failed} isView={isView} />
  ) : (
    <Notice title={say.missing(saidOf(id))} isView={isView} />
  )
}

/** `Deployment staging / payments / web`. */
function saidOf(id: string): string {
  const { cluster, kind = '', namespace = noNamespace, name } = namedParams(id) ?? {}
  if (cluster === undefined) return say.unnamed
  const place = [cluster, ...(namespace === noNamespace ? [] : [namespace]), name].join(' / ')
  return `${kind.split('.')[0] ?? ''} ${place}`
}

function Pair({
  one,
  object: first,
  right,
}: {
  readonly one: LiveObject
  readonly object: SeenObject
  readonly right: string
}) {
  const other = useLiveObject(right)
  const { object: second } = other
  const [isYaml, setYaml] = useState(false)
  const groups = useMemo(
    () => (second === undefined ? [] : compared(first.json, second.json)),
    [first.json, second],
  )
  if (second === undefined) return <Absent live={other} id={right} />
  const count = groups.reduce((sum, { fields }) => sum + fields.length, 0)
  return (
    <>
      <div className={styles['sides']}>
        <Side says={say.left} object={first} live={one} />
        <Side says={say.right} object={second} live={other} />
      </div>
      <div className={styles['summary']}>
        <p role="status">{say.count(count)}</p>
        <button
          type="button"
          className={controls['button']}
          aria-pressed={isYaml}
          onClick={() => setYaml(!isYaml)}
        >
          {isYaml ? say.fields : say.yaml}
        </button>
        <p className={styles['dim']}>{say.leftOut}</p>
        {first.kind === 'Secret' ? (
          <p className={styles['dim']}>{words.object.yaml.secret}</p>
        ) : null}
      </div>
      {isYaml ? (
        <Suspense fallback={null}>
          <YamlDifference
            left={yamlOf(comparableOf(first.json))}
            right={yamlOf(comparableOf(second.json))}
          />
        </Suspense>
      ) : (
        <div className={styles['groups']}>
          {groups.map(({ group, fields }) => (
            <section key={group} aria-label={say.groups[group]}>
              <h2>{say.groups[group]}</h2>
              <FieldChanges changes={fields} sides={[say.left, say.right]} />
            </section>
          ))}
        </div>
      )}
    </>
  )
}

function Side({
  says,
  object: { nameId, clusterName, namespace, name },
  live: { gone, staleSince },
}: {
  readonly says: string
  readonly object: SeenObject
  readonly live: LiveObject
}) {
  return (
    <p className={styles['side']}>
      <span className={styles['dim']}>{says} </span>
      <PlaceLink to={{ object: nameId }}>
        {[clusterName, namespace, name].filter((part) => part !== null).join(' / ')}
      </PlaceLink>
      {gone === undefined ? null : <span role="status"> {say.deleted}</span>}
      {staleSince === null ? null : (
        <span role="status"> {words.object.stale(timeOfDay(new Date(staleSince)))}</span>
      )}
    </p>
  )
}

/** The objects of the same kind and name elsewhere, or those whose name has a text. */
function Choose({
  object: { id, apiVersion, kind, name },
  choose,
}: {
  readonly object: SeenObject
  readonly choose: (id: string) => void
}) {
  const [typed, setTyped] = useState('')
  const text = typed.trim()
  const { data, errors, isPending } = useAnswer(CompareChoicesDocument, {
    group: groupOf(apiVersion),
    kind,
    clusters: ['*'],
    where: { name: text === '' ? { eq: name } : { contains: text } },
  })
  const list = data?.objectList
  const choices = (list?.nodes ?? []).filter((one) => one.id !== id)
  const total = list?.totalCount ?? 0
  return (
    <section className={styles['choose']} aria-label={say.choose}>
      <h2>{say.choose}</h2>
      <input
        className={controls['field']}
        placeholder={say.find}
        aria-label={say.find}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      {list === undefined || list === null ? (
        isPending ? null : (
          <Failure errors={errors} />
        )
      ) : (
        <>
          <ul aria-label={say.choices}>
            {choices.map((one) => (
              <li key={one.id}>
                <button
                  type="button"
                  className={styles['choice']}
                  onClick={() => choose(one.nameId)}
                >
                  <span className={styles['dim']}>
                    {[one.clusterName, one.namespace].filter((part) => part !== null).join(' / ')}{' '}
                    /{' '}
                  </span>
                  {one.name}
                </button>
              </li>
            ))}
          </ul>
          <div role="status" className={styles['dim']}>
            {choices.length === 0 && !isPending ? <p>{say.noChoice(kind)}</p> : null}
            {total > list.nodes.length ? <p>{say.more(list.nodes.length, total)}</p> : null}
            {gapSentences(list.incomplete, say.what).map((sentence) => (
              <p key={sentence}>{sentence}</p>
            ))}
          </div>
        </>
      )}
    </section>
  )
}
