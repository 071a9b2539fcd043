/** What this browser keeps for itself: the appearance, and whether single keys act. */
import { useId } from 'react'
import { SingleKeys, Themes } from '../frame/preferences.tsx'

export const BrowserSettings = () => {
  const id = useId()
  return (
    <section className="page" aria-labelledby={id}>
      <h2 id={id}>This browser</h2>
      <p className="soft">These are kept here alone, and hold for everybody who signs in here.</p>
      <Themes />
      <SingleKeys />
    </section>
  )
}
