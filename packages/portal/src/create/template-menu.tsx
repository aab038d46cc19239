import { Menu } from '@base-ui/react/menu'
import controls from '../look/controls.module.css'
import { Icon } from '../look/icons.tsx'
import overlay from '../look/overlay.module.css'
import { createWords as say } from './create-words.ts'
import { type Template, templates } from './templates.ts'

/** The templates of the common kinds. */
export function TemplateMenu({
  choose,
  next,
}: {
  readonly choose: (template: Template) => void
  /** What has the focus afterwards. */
  readonly next: () => HTMLElement | null
}) {
  return (
    <Menu.Root>
      <Menu.Trigger className={controls['button']}>
        {say.template}
        <Icon name="chevron" />
      </Menu.Trigger>
      <Menu.Portal className="informerql">
        <Menu.Positioner align="end" sideOffset={4} className={overlay['positioner']}>
          <Menu.Popup className={overlay['popup']} aria-label={say.templates} finalFocus={next}>
            {templates.map((template) => (
              <Menu.Item
                key={template.path}
                className={overlay['item']}
                onClick={() => choose(template)}
              >
                {template.kind}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}
