/** All keys that do something on this page. */
import { keysShown, shortcutOf } from '../keys/keys.ts'
import { activeShortcuts, isMac, singleKeys } from '../keys/use-keys.ts'
import { Dialog } from '../parts/dialog.tsx'
import { useStore } from '../parts/store.ts'

export const Help = ({ close }: { close(): void }) => {
  const single = useStore(singleKeys)
  return (
    <Dialog title="Keys of this page" close={close} className="help">
      {!single && <p>Single keys are switched off in your menu.</p>}
      <dl>
        {activeShortcuts()
          .map(shortcutOf)
          .filter(({ says }) => says !== '')
          .map(({ chord, says }) => (
            <div key={`${chord} ${says}`}>
              <dt>
                {keysShown(chord, isMac).map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{says}</dd>
            </div>
          ))}
      </dl>
      <div className="dialog-actions">
        <button type="button" className="action plain" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
