/** The keys of a shortcut, beside what they do. */
import { keysShown, type ShortcutId, shortcutOf } from '../keys/keys.ts'
import { isMac, singleKeys } from '../keys/use-keys.ts'
import { useStore } from './store.ts'

export const KeyCaps = ({ of }: { of: ShortcutId }) => {
  const single = useStore(singleKeys)
  const { chord } = shortcutOf(of)
  if (!single && !chord.startsWith('Mod+') && chord !== 'Escape') return null
  return (
    <span className="keys" aria-hidden="true">
      {keysShown(chord, isMac).map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  )
}
