/** The way to the next page of a list. */
interface Pages {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  isFetchNextPageError: boolean
  fetchNextPage(): unknown
}

export const More = ({ pages, what }: { pages: Pages; what: string }) =>
  pages.hasNextPage ? (
    <div className="more">
      <button
        type="button"
        className="action plain"
        aria-disabled={pages.isFetchingNextPage}
        onClick={() => !pages.isFetchingNextPage && void pages.fetchNextPage()}
      >
        {pages.isFetchingNextPage ? 'Reading…' : `Show more ${what}`}
      </button>
      {pages.isFetchNextPageError && <p role="alert">They could not be read. Try again.</p>}
    </div>
  ) : null
