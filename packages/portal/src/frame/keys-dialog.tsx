import { Dialog } from '@base-ui/react/dialog'
import { Fragment } from 'react'
import controls from '../look/controls.module.css'
import { Icon } from '../look/icons.tsx'
import overlay from '../look/overlay.module.css'
import { words } from '../words.ts'
import styles from './keys-dialog.module.css'
import { keyWords, useShownKeys } from './keys.ts'

/** A key, or several, one after the other. */
export function Keys({ keys }: { readonly keys: string }) {
  return (
    <span className={styles['keys']}>
      {keyWords(keys).map((key, index) => (
        <Fragment key={index}>
          <kbd className={controls['key']}>{key}</kbd>
        </Fragment>
      ))}
    </span>
  )
}

/** The keys of the view that is shown, and of the frame. */
export function KeysDialog({
  isOpen,
  setOpen,
}: {
  readonly isOpen: boolean
  readonly setOpen: (open: boolean) => void
}) {
  const bindings = useShownKeys()
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Portal>
        <Dialog.Backdrop className={overlay['backdrop']} />
        <Dialog.Popup className={overlay['dialog']}>
          <div className={styles['head']}>
            <Dialog.Title className={overlay['dialogTitle']}>{words.frame.keys.title}</Dialog.Title>
            <Dialog.Close className={controls['icon']} aria-label={words.frame.close}>
              <Icon name="close" />
            </Dialog.Close>
          </div>
          <dl className={styles['list']}>
            {bindings.map(({ keys, also = [], does }) => (
              <div key={keys} className={styles['row']}>
                <dt>{does}</dt>
                <dd>
                  {[keys, ...also].map((one) => (
                    <Keys key={one} keys={one} />
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
