/** Asks where something is on the network, before it is marked as done. */
import { useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'

interface AskForAddressProps {
  title: string
  /** What follows from it. */
  says: string
  /** The button's words. */
  does: string
  /** The address to begin with. */
  known: string
  act(url: string | undefined): void
  close(): void
}

export const AskForAddress = ({ title, says, does, known, act, close }: AskForAddressProps) => {
  const [url, setUrl] = useState(known)
  const typed = url.trim()
  const isAddress = typed === '' || URL.canParse(typed)
  return (
    <Dialog title={title} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isAddress) return
          close()
          act(typed || undefined)
        }}
      >
        <label className="labelled">
          Its address, if you have it
          <input
            className="field"
            name="url"
            type="url"
            autoComplete="off"
            maxLength={2_000}
            aria-invalid={!isAddress}
            value={url}
            onChange={({ target }) => setUrl(target.value)}
          />
        </label>
        <p className="soft">{says}</p>
        <div className="dialog-actions">
          <button type="button" className="action plain" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="action go" aria-disabled={!isAddress}>
            {does}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
