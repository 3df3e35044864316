"""The widgets of the chat's pages."""
