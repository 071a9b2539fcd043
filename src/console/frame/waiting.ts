/** How many things wait for this person, for the rail and the title of the tab. */
import { waitingWords } from '../parts/many.ts'
import { createStore } from '../parts/store.ts'

/** Undefined until it is known. */
export const waitingCount = createStore<number | undefined>(undefined)

/** What the page calls itself in the tab, without the count. */
export const pageTitle = createStore('Tendril')

const show = (): void => {
  const count = waitingCount.get() ?? 0
  const title = pageTitle.get()
  const named = title === 'Tendril' ? title : `${title} · Tendril`
  document.title = count > 0 ? `(${waitingWords(count)}) ${named}` : named
}

export const startTitle = (): void => {
  for (const store of [waitingCount, pageTitle]) store.subscribe(show)
  show()
}
