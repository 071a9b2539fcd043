/** What has just happened, with Undo where it can be taken back. */
import { Icon } from '../parts/icons.tsx'
import { KeyCaps } from '../parts/key-caps.tsx'
import { useStore } from '../parts/store.ts'
import { dismiss, statusLine, toasts, undo } from './notices.ts'

/** Screen readers hear the status line, so that the toasts themselves say nothing. */
export const Toasts = () => (
  <>
    <output className="unseen" aria-live="polite">
      {useStore(statusLine)}
    </output>
    <section className="toasts" aria-label="What has just happened">
      {useStore(toasts).map((toast) => (
        <div key={toast.id} className={`toast ${toast.tone ?? 'plain'}`}>
          <p>
            {toast.who && <bdi>{toast.who}</bdi>} <bdi>{toast.says}</bdi>{' '}
            {toast.about && <bdi className="soft">{toast.about}</bdi>}
          </p>
          {toast.canUndo && (
            <button type="button" className="toast-undo" onClick={() => void undo(toast.id)}>
              Undo
              <KeyCaps of="undo" />
            </button>
          )}
          <button
            type="button"
            className="toast-close"
            aria-label="Dismiss"
            onClick={() => dismiss(toast.id)}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </section>
  </>
)
