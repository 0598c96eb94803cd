// Outlines of the page's pictures, on a square of 24.

export const ICONS = {
  play: "M7 4.5v15l12-7.5z",
  pause: "M6.5 4.5h4v15h-4zM13.5 4.5h4v15h-4z",
  step: "M5 4.5v15l9.5-7.5zM16 4.5h3v15h-3z",
  reset: "M12 5a7 7 0 1 1-6.6 4.7l-2-.8A9.2 9.2 0 1 0 12 2.8V0L6.6 4 12 8z",
  fit: "M3 3h7v2.2H5.2V10H3zM14 3h7v7h-2.2V5.2H14zM3 14h2.2v4.8H10V21H3zM18.8 14H21v7h-7v-2.2h4.8z",
  wire: "M3 3h18v18H3zm2 2v5h5V5zm7 0v5h7V5zm-7 7v7h5v-7zm7 0v7h7v-7z",
  theme: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 2.2v15.6a7.8 7.8 0 0 1 0-15.6z",
  help: "M12 2a10 10 0 1 1 0 20 10 10 0 0 1 0-20zm-1.2 13.2v2.6h2.4v-2.6zM8 9.6h2.3a1.7 1.7 0 1 1 2.6 1.5c-1.4.9-2.1 1.6-2.1 3.1h2.3c0-.8.5-1.2 1.4-1.8A4 4 0 1 0 8 9.6z",
} as const;
