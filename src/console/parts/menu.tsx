/** A button with a popover of its own. */
import { type ReactNode, useId, useRef } from 'react'
import { placeBeside } from './popover-place.ts'

interface MenuProps {
  /** What it does, for screen readers, after the words on it. */
  says: string
  button: ReactNode
  className?: string
  children(close: () => void): ReactNode
}

const focusable = (root: HTMLElement): HTMLElement[] => [
  ...root.querySelectorAll<HTMLElement>('a[href], button, input:not([type=hidden]), select'),
]

/** A phone's style sheet has it rise from the bottom instead. */
const place = (button: HTMLElement, popover: HTMLElement): void => {
  const { left, top } = placeBeside(
    button.getBoundingClientRect(),
    popover.getBoundingClientRect(),
    { width: innerWidth, height: innerHeight },
  )
  popover.style.setProperty('--left', `${left}px`)
  popover.style.setProperty('--top', `${top}px`)
}

const ARROWS: Record<string, 1 | -1> = { ArrowDown: 1, ArrowUp: -1 }

/** Arrow keys move within it; Escape and a click beside it close it, as the browser does. */
export const Menu = ({ says, button, className = '', children }: MenuProps) => {
  const id = useId()
  const ref = useRef<HTMLDivElement>(null)
  const opener = useRef<HTMLButtonElement>(null)
  return (
    <div className={`menu ${className}`}>
      <button ref={opener} type="button" className="menu-button" popoverTarget={id}>
        {button}
        <span className="unseen">{says}</span>
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys move the focus among its controls */}
      <div
        ref={ref}
        id={id}
        popover="auto"
        className="popover"
        onToggle={(event) => {
          if (event.newState !== 'open') return
          place(opener.current!, ref.current!)
          focusable(ref.current!)[0]?.focus()
        }}
        onKeyDown={(event) => {
          const step = ARROWS[event.key]
          if (step === undefined || (event.target as HTMLElement).matches('input, select')) return
          event.preventDefault()
          const all = focusable(ref.current!)
          const at = all.indexOf(document.activeElement as HTMLElement)
          all[(at + step + all.length) % all.length]?.focus()
        }}
      >
        {children(() => ref.current?.hidePopover())}
      </div>
    </div>
  )
}
