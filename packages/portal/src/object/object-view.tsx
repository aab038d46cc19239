import { Tabs } from '@base-ui/react/tabs'
import { lazy, Suspense, useEffect, useState } from 'react'
import { useEarlyKeys, useKeys } from '../frame/keys.ts'
import { useShownAs, useViewTitle } from '../frame/view-title.ts'
import { Failure, Notice } from '../look/notice.tsx'
import { PlaceLink } from '../look/place-link.tsx'
import { scopeOf } from '../scope.ts'
import { words } from '../words.ts'
import { ShellTab } from '../shell/shell-tab.tsx'
import { useShells } from '../shell/shells.ts'
import { Access } from './access.tsx'
import { HistoryTab } from '../timeline/history-tab.tsx'
import { Events } from './events.tsx'
import { type LiveObject, type SeenObject, useLiveObject } from './live-object.ts'
import { ObjectHeader } from './object-header.tsx'
import styles from './object.module.css'
import { Related } from './related.tsx'
import { Summary } from './summary.tsx'
import { type ObjectTab, tabs, tabsOf } from './object-tabs.ts'

// These bring CodeMirror and React Flow, which are larger than all other tabs together.
const ObjectGraph = lazy(async () => ({
  default: (await import('../graph/object-graph.tsx')).ObjectGraph,
}))
const LogsTab = lazy(async () => ({ default: (await import('../logs/logs-tab.tsx')).LogsTab }))
const YamlTab = lazy(async () => ({ default: (await import('./yaml-tab.tsx')).YamlTab }))

/** What the user has made of a tab, as the text of an address. */
export interface TabText {
  readonly view: string | undefined
  readonly onView: (view: string | undefined) => void
}

/** An object: its header and its tabs, as a page or, with `onClose`, beside a list. */
export function ObjectView({
  id,
  tab,
  onTab,
  logs,
  history,
  onClose,
  onSeen,
  isPage = false,
}: {
  readonly id: string
  readonly tab: ObjectTab
  readonly onTab: (tab: ObjectTab) => void
  /** What the user has made of the logs; absent: the view keeps it. */
  readonly logs?: TabText
  /** The same of the history. */
  readonly history?: TabText
  readonly onClose?: () => void
  /** Called with the object when it is known. */
  readonly onSeen?: (object: SeenObject) => void
  /** Whether the view is the page. */
  readonly isPage?: boolean
}) {
  const live = useLiveObject(id)
  const [ownLogs, setOwnLogs] = useState<string>()
  const { object } = live
  const isSeen = object !== undefined
  const isPod = object?.kind === 'Pod' && object.apiVersion === 'v1'
  const areShells = useShells(isPod)
  const shown = object === undefined ? tabs : tabsOf(object, isPod && areShells)
  useEffect(() => {
    if (object !== undefined) onSeen?.(object)
  }, [isSeen, onSeen])
  useKeys(
    (isSeen ? shown : []).map((one, index) => ({
      keys: String(index + 1),
      does: words.object.showTab(words.object.tabs[one]),
      run: () => onTab(one),
    })),
  )
  const at = shown.includes(tab) ? tab : 'summary'
  if (object === undefined) return <Absent id={id} live={live} isPage={isPage} />
  return (
    <article className={styles['view']}>
      {isPage ? <ViewTitle object={object} /> : null}
      <ObjectHeader object={object} live={live} {...(onClose === undefined ? {} : { onClose })} />
      <Tabs.Root
        className={styles['tabs']}
        value={at}
        onValueChange={(value: ObjectTab) => onTab(value)}
      >
        <Tabs.List className={styles['tabList']}>
          {shown.map((one, index) => (
            <Tabs.Tab key={one} value={one} className={styles['tab']} title={`${index + 1}`}>
              {words.object.tabs[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={at} className={styles['panel']}>
          <Content
            tab={at}
            object={object}
            onTab={onTab}
            logs={logs ?? { view: ownLogs, onView: setOwnLogs }}
            history={history}
          />
        </Tabs.Panel>
      </Tabs.Root>
    </article>
  )
}

function ViewTitle({ object }: { readonly object: SeenObject }) {
  useViewTitle(`${object.kind} ${object.name}`, scopeOf(object))
  return null
}

function Loading() {
  useEarlyKeys()
  return (
    <div className={styles['skeleton']} role="status" aria-label={words.object.loading}>
      <i />
      <i />
      <i />
      <i />
    </div>
  )
}

function AbsentTitle({ title }: { readonly title: string }) {
  useShownAs(title)
  return null
}

function Content({
  tab,
  object,
  onTab,
  logs,
  history,
}: {
  readonly tab: ObjectTab
  readonly object: SeenObject
  readonly onTab: (tab: ObjectTab) => void
  readonly logs: TabText
  readonly history: TabText | undefined
}) {
  switch (tab) {
    case 'summary':
      return (
        <Summary
          object={object}
          onTab={onTab}
          openLogs={(view) => {
            if (view !== undefined) logs.onView(view)
            onTab('logs')
          }}
        />
      )
    case 'related':
      return <Related object={object} />
    case 'graph':
      return (
        <Suspense fallback={null}>
          <ObjectGraph roots={[object.id]} />
        </Suspense>
      )
    case 'events':
      return <Events object={object} />
    case 'logs':
      return (
        <Suspense fallback={null}>
          <LogsTab object={object} {...logs} />
        </Suspense>
      )
    case 'yaml':
      return (
        <Suspense fallback={null}>
          <YamlTab object={object} />
        </Suspense>
      )
    case 'history':
      return <HistoryTab id={object.id} object={object} {...history} />
    case 'access':
      return <Access object={object} />
    case 'shell':
      return <ShellTab object={object} />
  }
}

/** What stands in place of an object that is not there, or not yet. Without an `id`, nothing is known of its past. */
export function Absent({
  id,
  live: { state, errors },
  isPage,
  isNamed = false,
}: {
  readonly id?: string
  /** Whether its name is followed: it is shown when there is one. */
  readonly isNamed?: boolean
  readonly live: Pick<LiveObject, 'state' | 'errors'>
  readonly isPage: boolean
}) {
  if (state === 'loading') return <Loading />
  const title = state === 'refused' ? words.object.failed : words.object.missing.title
  return (
    <div className={styles['absent']}>
      {isPage ? <AbsentTitle title={title} /> : null}
      {state === 'refused' ? (
        <Failure errors={errors} title={title} isView={isPage} />
      ) : (
        <Notice title={title} isView={isPage}>
          <p>{isNamed ? words.object.missing.named : words.object.missing.text}</p>
        </Notice>
      )}
      {state === 'missing' && id !== undefined ? <HistoryTab id={id} /> : null}
      <PlaceLink to="overview" className={styles['next']}>
        {words.object.overview}
      </PlaceLink>
    </div>
  )
}
