import { Outlet } from '@tanstack/react-router'
import styles from './frame.module.css'
import { Rail } from './rail.tsx'
import { TopBar } from './top-bar.tsx'

/** What every view stands in: the rail, the bar, and the view's place. */
export function Frame() {
  return (
    <div className={styles['frame']}>
      <Rail />
      <div className={styles['main']}>
        <TopBar />
        <main className={styles['view']}>
          <Outlet />
        </main>
      </div>
    </div>
  )
}
