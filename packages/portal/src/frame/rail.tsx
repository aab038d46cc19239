import { Link, useLocation, useRouter } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { type Count, useCounts } from '../gateway/counts.ts'
import { type Kind, useKinds } from '../gateway/kinds.ts'
import controls from '../look/controls.module.css'
import { Icon, type IconName } from '../look/icons.tsx'
import { Mark as ProductMark } from '../look/mark.tsx'
import { useProblemCounts } from '../problems/use-problems.ts'
import { words } from '../words.ts'
import { usePinned } from './pinned.ts'
import { railSections, type RailSection } from './rail-groups.ts'
import styles from './rail.module.css'
import { useShownTitle } from './view-title.ts'
import { useViews } from './views.ts'

const said = words.frame.rail

/** The way to every view: pinned ones, overview, applications, and the kinds by group. */
export function Rail({ isFolded }: { readonly isFolded: boolean }) {
  const { kinds, isPending } = useKinds()
  const { byType } = useCounts()
  const views = useViews()
  return (
    <nav className={styles['rail']} data-folded={isFolded} aria-label={words.frame.menu}>
      <Link to="/" className={styles['product']} title={words.frame.productTitle}>
        <ProductMark />
        <span className={styles['name']}>{words.frame.product}</span>
      </Link>
      <Pinned />
      <ul>
        {views.map(({ href, icon, title }) => (
          <Entry
            key={href}
            icon={icon}
            to={href}
            exact={href === '/'}
            mark={href === '/problems' ? <ProblemBadge /> : null}
          >
            {title}
          </Entry>
        ))}
      </ul>
      {isPending ? (
        <Skeleton />
      ) : (
        railSections(kinds, byType).map((section) => (
          <Section key={section.name} section={section} counts={byType} />
        ))
      )}
    </nav>
  )
}

function Entry({
  icon,
  to,
  exact,
  mark,
  children,
}: {
  readonly icon: IconName
  readonly to: string
  readonly exact: boolean
  /** Stands at its end. */
  readonly mark: ReactNode
  readonly children: string
}) {
  return (
    <li>
      <Link
        to={to}
        className={styles['entry']}
        activeOptions={{ exact, includeSearch: false }}
        title={children}
      >
        <span className={styles['tile']}>
          <Icon name={icon} />
        </span>
        <span className={styles['name']}>{children}</span>
        {mark}
      </Link>
    </li>
  )
}

/** The number of problems in the scope. */
function ProblemBadge() {
  const counts = useProblemCounts()
  if (counts === undefined || counts.totalCount === 0) return null
  const { CRITICAL: critical, WARNING: warnings } = counts.bySeverity
  return (
    <span
      className={styles['badge']}
      data-critical={critical > 0 || undefined}
      title={words.problems.badge(critical, warnings)}
    >
      {counts.totalCount.toLocaleString()}
    </span>
  )
}

/** The views that the user has pinned, and a way to pin the one that is shown. */
function Pinned() {
  const { href } = useLocation()
  const { history } = useRouter()
  const [pinned, pin] = usePinned()
  if (pinned.length === 0) return null
  return (
    <section className={styles['section']}>
      <h2 className={styles['heading']}>{said.pinned}</h2>
      <ul>
        {pinned.map((view) => (
          <li key={view.href} className={styles['pinned']}>
            <a
              href={view.href}
              className={styles['entry']}
              title={view.title}
              aria-current={view.href === href ? 'page' : undefined}
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return
                event.preventDefault()
                history.push(view.href)
              }}
            >
              <span className={styles['tile']}>
                <Icon name="pin" />
              </span>
              <span className={styles['name']}>{view.title}</span>
            </a>
            <button
              type="button"
              className={`${controls['icon']} ${styles['unpin']}`}
              aria-label={said.unpin(view.title)}
              title={said.unpin(view.title)}
              onClick={() => {
                pin(view)
              }}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Pins the view that is shown, or unpins it. */
export function usePinThisView(): { readonly isPinned: boolean; readonly toggle: () => void } {
  const { href } = useLocation()
  const title = useShownTitle()
  const [pinned, pin] = usePinned()
  return {
    isPinned: pinned.some((view) => view.href === href),
    toggle: () => {
      pin({ title, href })
    },
  }
}

/** A group of kinds: those with objects, and the others on demand. */
function Section({
  section: { name, kinds, quiet },
  counts,
}: {
  readonly section: RailSection<Kind>
  readonly counts: ReadonlyMap<string, Count>
}) {
  const { pathname } = useLocation()
  const isCurrent = quiet.some(({ path }) => pathname === `/kinds/${path}`)
  const [isOpen, setOpen] = useState(false)
  const title: string = name in said.groups ? said.groups[name as keyof typeof said.groups] : name
  return (
    <section className={styles['section']}>
      <h2 className={styles['heading']} title={title}>
        {title}
      </h2>
      <ul>
        {kinds.map((kind) => (
          <KindEntry key={kind.path} kind={kind} count={counts.get(kind.type)} />
        ))}
        {isOpen || isCurrent
          ? quiet.map((kind) => (
              <KindEntry key={kind.path} kind={kind} count={counts.get(kind.type)} />
            ))
          : null}
      </ul>
      {quiet.length === 0 || isCurrent ? null : (
        <button
          type="button"
          className={styles['more']}
          title={said.moreTitle}
          aria-expanded={isOpen}
          onClick={() => {
            setOpen(!isOpen)
          }}
        >
          {isOpen ? said.fewer : said.more(quiet.length)}
        </button>
      )}
    </section>
  )
}

function KindEntry({ kind, count }: { readonly kind: Kind; readonly count: Count | undefined }) {
  const { title, path } = kind
  const { objects = null, health } = count ?? {}
  const degraded = health?.DEGRADED ?? 0
  return (
    <li>
      <Link
        to="/kinds/$resource"
        params={{ resource: path }}
        className={styles['entry']}
        activeOptions={{ includeSearch: false }}
        title={title}
      >
        <span className={styles['tile']} aria-hidden="true">
          {abbreviation(kind)}
          {degraded > 0 ? <span className={styles['tileDot']} /> : null}
        </span>
        <span className={styles['name']}>{title}</span>
        {degraded > 0 ? (
          <Mark label={said.degraded(degraded)}>
            <span className={styles['dot']} />
          </Mark>
        ) : null}
        {objects === null ? null : (
          <span className={styles['count']}>{objects.toLocaleString()}</span>
        )}
      </Link>
    </li>
  )
}

function Mark({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <span title={label} className={styles['mark']}>
      <span className="visually-hidden">{label}</span>
      {children}
    </span>
  )
}

/** Two letters for a narrow rail: the capitals of the kind, or its beginning. */
function abbreviation({ kind }: Kind): string {
  const capitals = kind.replaceAll(/[^A-Z]/g, '')
  return capitals.length > 1 ? capitals.slice(0, 2) : kind.slice(0, 2)
}

function Skeleton() {
  return (
    <div className={styles['skeleton']} aria-hidden="true">
      {[60, 84, 72, 66, 78, 58, 70].map((width) => (
        <span key={width} style={{ width }} />
      ))}
    </div>
  )
}
