/** A modal dialog: the browser's own, which keeps the focus inside and gives it back. */
import { type ReactNode, useEffect, useId, useRef } from 'react'

interface DialogProps {
  title: ReactNode
  close(): void
  children: ReactNode
  /** `sheet`: rises from the bottom of a phone. */
  className?: string
  /** The title is for screen readers alone. */
  hideTitle?: boolean
}

export const Dialog = ({ title, close, children, className = '', hideTitle }: DialogProps) => {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current!
    if (!dialog.open) dialog.showModal()
    return () => dialog.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it closes it, as Escape does
    <dialog
      ref={ref}
      className={`dialog ${className}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
      onClick={(event) => {
        if (event.target === ref.current) close()
      }}
    >
      <div className="dialog-body">
        <h2 id={id} className={hideTitle ? 'unseen' : undefined}>
          {title}
        </h2>
        {children}
      </div>
    </dialog>
  )
}

interface AskProps {
  title: ReactNode
  /** What follows from it. */
  children?: ReactNode
  /** The button's words, such as `Post now`. */
  does: string
  tone?: 'go' | 'harm'
  busy?: boolean
  act(): void
  close(): void
}

/** Asks before something that cannot be taken back. */
export const AskFirst = ({
  title,
  children,
  does,
  tone = 'go',
  busy = false,
  act,
  close,
}: AskProps) => (
  <Dialog title={title} close={close} className="ask">
    {children}
    <div className="dialog-actions">
      <button type="button" className="action plain" onClick={close}>
        Cancel
      </button>
      <button
        type="button"
        className={`action ${tone}`}
        aria-disabled={busy}
        onClick={() => !busy && act()}
      >
        {does}
      </button>
    </div>
  </Dialog>
)
