/** Asks for a reason before something that cannot be taken back. */
import { useState } from 'react'
import { useShortcut } from '../keys/use-keys.ts'
import { Dialog } from './dialog.tsx'
import { KeyCaps } from './key-caps.tsx'
import { Labelled } from './labelled.tsx'

interface ReasonDialogProps {
  title: string
  /** What becomes of the reason. */
  hint: string
  does: string
  /** In characters. */
  longest: number
  busy: boolean
  act(reason: string): void
  close(): void
}

export const ReasonDialog = ({
  title,
  hint,
  does,
  longest,
  busy,
  act,
  close,
}: ReasonDialogProps) => {
  const [reason, setReason] = useState('')
  const send = () => {
    if (!busy) act(reason)
  }
  useShortcut('confirm', send)
  return (
    <Dialog title={title} close={close} className="ask">
      <Labelled label="Reason (optional)" about={hint}>
        {({ id, describedBy }) => (
          <textarea
            autoFocus
            id={id}
            name="reason"
            autoComplete="off"
            rows={3}
            dir="auto"
            maxLength={longest}
            aria-describedby={describedBy}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
        )}
      </Labelled>
      <div className="dialog-actions">
        <button type="button" className="action plain" onClick={close}>
          Cancel
        </button>
        <button type="button" className="action harm" aria-disabled={busy} onClick={send}>
          {does} <KeyCaps of="confirm" />
        </button>
      </div>
    </Dialog>
  )
}
