import { Dialog } from '@base-ui/react/dialog'
import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import overlay from '../look/overlay.module.css'
import { words } from '../words.ts'
import styles from './rail-drawer.module.css'
import { Rail } from './rail.tsx'

/** The rail of a narrow window: it comes from the side, and leaves when a view is chosen. */
export function RailDrawer({
  isOpen,
  setOpen,
}: {
  readonly isOpen: boolean
  readonly setOpen: (open: boolean) => void
}) {
  const router = useRouter()
  useEffect(
    () =>
      router.subscribe('onBeforeNavigate', () => {
        setOpen(false)
      }),
    [router],
  )
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Portal>
        <Dialog.Backdrop className={overlay['backdrop']} />
        <Dialog.Popup className={styles['drawer']} aria-label={words.frame.menu}>
          <Rail isFolded={false} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
