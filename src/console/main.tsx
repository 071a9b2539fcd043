/** Begins the console in its page. */
import inter from '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2' with {
  type: 'file',
}
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/queries.ts'
import { boot } from './boot.ts'
import { Frame } from './frame/frame.tsx'
import { startTheme } from './frame/theme.ts'
import { startTitle } from './frame/waiting.ts'
import { listenForKeys } from './keys/use-keys.ts'
import { startLive } from './live/live.ts'
import { pages, useFocusOnHeading } from './pages.tsx'
import { Bones } from './parts/states.tsx'
import { PageBoundary } from './router/lazy-page.tsx'
import { hrefOf } from './router/paths.ts'
import { PlaceLink, useHere } from './router/router.tsx'
import { tidyTyped } from './typed/typed-text.ts'

const NoSuchPlace = () => (
  <div className="page">
    <h1>Nothing is here</h1>
    <p>
      The console has no such page.{' '}
      <PlaceLink href={hrefOf('inbox', {})}>Go to the inbox</PlaceLink>
    </p>
  </div>
)

const App = () => {
  const here = useHere()
  const page = here.place && pages[here.place.name]
  useFocusOnHeading(page?.name)
  return (
    <Frame page={page?.name}>
      <PageBoundary key={page?.name}>
        <Suspense fallback={<Bones />}>
          {page ? <page.Show here={here} /> : <NoSuchPlace />}
        </Suspense>
      </PageBoundary>
    </Frame>
  )
}

/** A style sheet's `url()` would become part of it, which the policy does not allow. */
const loadFont = async (): Promise<void> => {
  const font = new FontFace('Inter', `url(${inter})`, { weight: '100 900', display: 'swap' })
  document.fonts.add(await font.load())
}

tidyTyped(localStorage, boot.session.person.id, Date.now())
startTheme()
startTitle()
listenForKeys()
startLive()
loadFont().catch(() => {})
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
)
