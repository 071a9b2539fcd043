/** Every place and command by a few letters. */
import { type KeyboardEvent, useId, useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { KeyCaps } from '../parts/key-caps.tsx'
import { useStore } from '../parts/store.ts'
import { type Offered, offeredCommands, offeredFor, places } from './commands.ts'

const STEPS: Record<string, 1 | -1> = { ArrowDown: 1, ArrowUp: -1 }

const Options = ({
  id,
  found,
  at,
  choose,
}: {
  id: string
  found: Offered[]
  at: number
  choose(one: Offered): void
}) => (
  <div id={id} role="listbox" aria-label="Places and commands" className="options">
    {found.map((one, index) => (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field above
      // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field above
      <div
        key={`${one.kind} ${one.id}`}
        id={`${id}-${index}`}
        role="option"
        aria-selected={index === at}
        className="option"
        ref={(element) => {
          if (index === at) element?.scrollIntoView({ block: 'nearest' })
        }}
        onClick={() => choose(one)}
      >
        <span>{one.says}</span>
        {one.shortcut ? <KeyCaps of={one.shortcut} /> : <span className="soft">{one.kind}</span>}
      </div>
    ))}
  </div>
)

export const Palette = ({ close }: { close(): void }) => {
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const id = useId()
  const found = offeredFor([...useStore(offeredCommands), ...places], typed)
  const choose = (one: Offered | undefined) => {
    if (!one) return
    close()
    one.act()
  }
  const press = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (step !== undefined) setAt((at + step + found.length) % Math.max(1, found.length))
    else if (event.key === 'Enter') choose(found[at])
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Places and commands" close={close} className="palette" hideTitle>
      <input
        autoFocus
        name="command"
        autoComplete="off"
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found.length > 0 ? `${id}-${at}` : undefined}
        aria-label="Places and commands; begin with > for commands alone"
        placeholder="Go to, or do"
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value)
          setAt(0)
        }}
        onKeyDown={press}
      />
      <Options id={id} found={found} at={at} choose={choose} />
      {found.length === 0 && <p className="soft">Nothing has these words.</p>}
    </Dialog>
  )
}
