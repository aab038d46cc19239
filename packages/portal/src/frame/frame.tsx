import { Outlet } from '@tanstack/react-router'
import { useState } from 'react'
import { useRefused } from '../gateway/credentials.ts'
import { useCounts } from '../gateway/counts.ts'
import { useSession } from '../gateway/session.ts'
import controls from '../look/controls.module.css'
import { Notice } from '../look/notice.tsx'
import { useScope } from '../scope.ts'
import { Palette } from '../search/palette.tsx'
import { words } from '../words.ts'
import { useStartAtAll } from './address-place.tsx'
import { useArrival } from './arrival.ts'
import { CutClusters } from './cut-clusters.tsx'
import styles from './frame.module.css'
import { KeysDialog } from './keys-dialog.tsx'
import { useFrameKeys } from './frame-keys.ts'
import { RailDrawer } from './rail-drawer.tsx'
import { Rail } from './rail.tsx'
import { useRailFold } from './rail-fold.ts'
import { SignIn } from './sign-in.tsx'
import { TopBar } from './top-bar.tsx'
import { useViewTitle } from './view-title.ts'

/** What every view stands in: the rail, the bar, and the view's place. Without credentials that the gateway takes: the way to sign in. */
export function Frame() {
  const isRefused = useRefused()
  const session = useSession()
  const isOut = session.state === 'out' && session.isRequired
  if (session.state === 'asking') return null
  const isAsked = isRefused && session.state === 'none'
  return isAsked || isOut || session.state === 'ended' ? <SignIn /> : <Views />
}

function Views() {
  const [rail, toggleRail] = useRailFold()
  const [opened, setOpened] = useState<'search' | 'keys' | 'rail' | undefined>(undefined)
  const isOpen = (what: typeof opened): { isOpen: boolean; setOpen: (open: boolean) => void } => ({
    isOpen: opened === what,
    setOpen: (open) => {
      setOpened(open ? what : undefined)
    },
  })
  const open = (what: typeof opened) => (): void => {
    setOpened(what)
  }
  const toggle = rail === 'drawer' ? open('rail') : toggleRail
  useFrameKeys({ search: open('search'), keys: open('keys'), rail: toggle })
  useArrival()
  useStartAtAll()
  return (
    <div className={styles['frame']} data-rail={rail}>
      <a href="#view" className={styles['skip']}>
        {words.frame.skip}
      </a>
      {rail === 'drawer' ? (
        <RailDrawer {...isOpen('rail')} />
      ) : (
        <Rail isFolded={rail === 'folded'} />
      )}
      <div className={styles['main']}>
        <TopBar
          isRailShown={rail === 'open'}
          toggleRail={toggle}
          openSearch={open('search')}
          openKeys={open('keys')}
        />
        <CutClusters>
          <main id="view" tabIndex={-1} className={styles['view']}>
            <View />
          </main>
        </CutClusters>
      </div>
      <Palette {...isOpen('search')} openKeys={open('keys')} />
      <KeysDialog {...isOpen('keys')} />
    </div>
  )
}

/** The view of the address; or, if that names a cluster that the gateway does not have, what to do. */
function View() {
  const { all } = useCounts()
  const { scope, setScope } = useScope()
  const unknown = scope.clusters?.filter(
    (one) => one !== '*' && all?.some(({ name }) => name === one) === false,
  )
  if (all === undefined || unknown === undefined || unknown.length === 0) return <Outlet />
  return (
    <UnknownClusters
      names={unknown}
      showAll={() => setScope({ ...scope, clusters: all.length > 1 ? ['*'] : [] })}
    />
  )
}

function UnknownClusters({
  names,
  showAll,
}: {
  readonly names: readonly string[]
  readonly showAll: () => void
}) {
  const title = words.frame.unknownClusters(names)
  useViewTitle(title, {})
  return (
    <Notice title={title} isView>
      <button type="button" className={controls['button']} onClick={showAll}>
        {words.search.allClusters}
      </button>
    </Notice>
  )
}
